// Input and output, and who waits for whom in it, from records made by hand.
#include <gmock/gmock.h>
#include <algorithm>
#include <cerrno>

#include "hand_made_run.h"

namespace longpole::recording {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t from = 5;
constexpr std::uint64_t to = 6;

RecordFields channel(std::uint64_t tsc, std::uint64_t read_from, std::uint64_t written_to,
                     std::uint64_t capacity = 0) {
  RecordFields fields = call(LONGPOLE_CHANNEL, tsc, read_from | written_to << 32U);
  fields.other = capacity;
  return fields;
}
RecordFields duplicate(std::uint64_t tsc, std::uint64_t known, std::uint64_t made) {
  return call(LONGPOLE_DUPLICATE, tsc, known | made << 32U);
}

// At the port `own`, to the port `other` of the same address.
RecordFields connection(std::uint64_t tsc, std::uint64_t descriptor, std::uint64_t own,
                        std::uint64_t other, std::uint64_t host = 0x7f000001) {
  RecordFields fields = call(LONGPOLE_CONNECTION, tsc, descriptor | own << 32U);
  fields.other = host << 16U | other;
  return fields;
}

// One call and its return.
void add(std::vector<RecordFields>& records, longpole_io way, std::uint64_t descriptor,
         std::uint64_t begin, std::uint64_t end, std::uint64_t answer, int result = 0) {
  records.push_back(begins_io(way, begin, descriptor));
  records.push_back(returns(LONGPOLE_IO, end, answer, result));
}

class Channels : public testing::Test {
 protected:
  void reads(std::uint32_t thread, std::uint64_t begin, std::uint64_t end, std::uint64_t bytes,
             std::uint64_t descriptor = from) {
    add(records_[thread], LONGPOLE_IO_READS, descriptor, begin, end, bytes);
  }
  void writes(std::uint32_t thread, std::uint64_t begin, std::uint64_t end, std::uint64_t bytes,
              std::uint64_t descriptor = to) {
    add(records_[thread], LONGPOLE_IO_WRITES, descriptor, begin, end, bytes);
  }
  void polls(std::uint32_t thread, std::uint64_t begin, std::uint64_t end, std::uint64_t found) {
    add(records_[thread], LONGPOLE_IO_OTHER, ~std::uint64_t{0}, begin, end, found);
  }
  std::vector<std::string> lines() {
    for (std::uint32_t t = 0; t < 3; ++t)
      run_.events.add_thread(t, static_cast<std::int32_t>(100 + t), records_[t]);
    return describe(*run_.merge());
  }

  HandMadeRun run_;
  std::vector<RecordFields> records_[3];
};

TEST_F(Channels, AReaderWaitsForWhoWroteTheLastByteThatItTook) {
  records_[0] = {channel(1'000, from, to)};
  writes(0, 40'000, 41'000, 3);
  writes(0, 50'000, 51'000, 3);
  reads(1, 10'000, 41'500, 3);
  reads(1, 42'000, 51'500, 2);
  reads(1, 52'000, 52'500, 1);
  const auto all = lines();
  EXPECT_THAT(all, Contains("0 40000 post 0 cpu=40000"));
  EXPECT_THAT(all, Contains("0 40000 external 6 3 cpu=0"));
  EXPECT_THAT(all, Contains("0 50000 post 0 cpu=10000"));
  EXPECT_THAT(all, Contains("1 10000 wait 0 cpu=0 took=31500 from=0"));
  EXPECT_THAT(all, Contains("1 41500 external 5 3 cpu=0"));
  EXPECT_THAT(all, Contains("1 42000 wait 0 cpu=0 took=9500 from=0"));
  EXPECT_THAT(all, Contains("1 52000 external 5 1 cpu=0"))
      << "its byte had come with the one before";
  EXPECT_EQ(run_.merge()->objects.at(0).stands_for, StandsFor::data);
}

TEST_F(Channels, EachOfSeveralReadersTakesItsOwn) {
  records_[0] = {channel(1'000, from, to)};
  writes(0, 40'000, 41'000, 8);
  reads(1, 10'000, 41'500, 4);
  reads(2, 10'000, 42'000, 4);
  const auto all = lines();
  EXPECT_EQ(std::ranges::count_if(
                all, [](const std::string& line) { return line.find("0 40000 post 0") == 0; }),
            2);
  EXPECT_THAT(all, Contains("1 10000 wait 0 cpu=0 took=31500 from=0"));
  EXPECT_THAT(all, Contains("2 10000 wait 0 cpu=0 took=32000 from=0"));
}

TEST_F(Channels, AWriterWaitsForWhoMakesRoom) {
  records_[0] = {channel(1'000, from, to, 100)};
  writes(0, 10'000, 11'000, 80);
  writes(0, 20'000, 60'000, 50);
  reads(1, 50'000, 51'000, 20);
  reads(1, 55'000, 56'000, 40);
  reads(1, 61'000, 62'000, 70);
  const auto all = lines();
  EXPECT_THAT(all, Contains("0 20000 wait 1 cpu=0 took=40000 from=1"));
  EXPECT_THAT(all, Contains("1 55000 post 1 cpu=0")) << "the first 20 bytes are not room enough";
  EXPECT_THAT(all, Contains("0 60000 external 6 50 cpu=40000"));
}

// 100 messages of 300 bytes are there when it comes: it goes on when a quarter of these and its own is left.
TEST_F(Channels, AWriterToAFullSocketWaitsUntilAQuarterIsLeft) {
  records_[0] = {channel(1'000, from, to)};
  for (std::uint64_t i = 0; i < 100; ++i)
    writes(0, 10'000 + 10 * i, 10'005 + 10 * i, 300);
  writes(0, 20'000, 90'000, 300);
  for (std::uint64_t i = 0; i < 90; ++i)
    reads(1, 30'000 + 10 * i, 30'005 + 10 * i, 300);
  const auto all = lines();
  EXPECT_THAT(all, Contains(AllOf(HasSubstr("0 20000 wait 1"), HasSubstr("took=70000 from=1"))));
  EXPECT_THAT(all, Contains(HasSubstr("1 30755 post 1"))) << "76 of 101 are read then";
  EXPECT_EQ(std::ranges::count_if(
                all, [](const std::string& line) { return line.find(" post 1") != line.npos; }),
            1);
}

TEST_F(Channels, AWriterThatWentOnBeforeAQuarterWasLeftWaitedForTheLastReadBefore) {
  records_[0] = {channel(1'000, from, to)};
  writes(0, 10'000, 11'000, 70'000);
  writes(0, 20'000, 90'000, 70'000);
  reads(1, 30'000, 31'000, 10'000);
  reads(1, 40'000, 41'000, 10'000);
  reads(1, 91'000, 92'000, 10'000);
  const auto all = lines();
  EXPECT_THAT(all, Contains(AllOf(HasSubstr("0 20000 wait 1"), HasSubstr("took=70000 from=1"))));
  EXPECT_THAT(all, Contains("1 40000 post 1 cpu=0"));
}

// Whom it wakes takes the CPU from it, and reads, before its call returns.
TEST_F(Channels, AWriterToASocketWithRoomWaitsForNobody) {
  records_[0] = {channel(1'000, from, to)};
  writes(0, 20'000, 90'000, 700);
  reads(1, 10'000, 30'000, 700);
  const auto all = lines();
  EXPECT_THAT(all, Contains("1 10000 wait 0 cpu=0 took=20000 from=0"));
  EXPECT_THAT(all, Not(Contains(HasSubstr("post 1"))));
}

TEST_F(Channels, BothEndsOfAConnectionAreThoseOfAChannelEachWay) {
  records_[0] = {connection(1'000, to, 40'000, 80)};
  records_[1] = {connection(2'000, from, 80, 40'000)};
  writes(0, 40'000, 41'000, 3);
  reads(1, 10'000, 41'500, 3);
  writes(1, 60'000, 61'000, 5, from);
  reads(0, 50'000, 61'500, 5, to);
  const auto all = lines();
  EXPECT_THAT(all, Contains("1 10000 wait 0 cpu=0 took=31500 from=0"));
  EXPECT_THAT(all, Contains(HasSubstr("0 50000 wait 1")));
}

// As by a program that connects without waiting, and asks again until it is.
TEST_F(Channels, AConnectionThatIsAskedForAgainIsTheSame) {
  records_[0] = {connection(1'000, to, 40'000, 80), connection(3'000, to, 40'000, 80)};
  records_[1] = {connection(2'000, from, 80, 40'000)};
  writes(0, 40'000, 41'000, 3);
  reads(1, 10'000, 41'500, 3);
  EXPECT_THAT(lines(), Contains("1 10000 wait 0 cpu=0 took=31500 from=0"));
}

// Of a later one the ports may be the same, and the descriptors.
TEST_F(Channels, AConnectionBehindOneThatWasClosedIsAnother) {
  records_[0] = {connection(1'000, to, 40'000, 80)};
  records_[1] = {connection(2'000, from, 80, 40'000)};
  writes(0, 3'000, 3'100, 100);
  add(records_[0], LONGPOLE_IO_CLOSES, to, 5'000, 5'100, 0);
  add(records_[1], LONGPOLE_IO_CLOSES, from, 5'200, 5'300, 0);
  records_[0].push_back(connection(6'000, to, 40'000, 80));
  records_[1].push_back(connection(7'000, from, 80, 40'000));
  reads(1, 10'000, 41'500, 3);
  writes(0, 40'000, 41'000, 3);
  EXPECT_THAT(lines(), Contains(HasSubstr("1 10000 wait")));
}

TEST_F(Channels, AConnectionWithSomebodyElseIsNone) {
  records_[0] = {connection(1'000, to, 40'000, 80)};
  records_[1] = {connection(2'000, from, 80, 40'001), connection(3'000, 7, 80, 40'000, 0x7f000002)};
  writes(0, 40'000, 41'000, 3);
  reads(1, 10'000, 41'500, 3);
  reads(1, 41'600, 41'900, 3, 7);
  EXPECT_THAT(lines(), Not(Contains(HasSubstr(" wait "))));
}

// Its buffers are of another size, and grow.
TEST_F(Channels, NobodyWaitsForRoomInAConnection) {
  records_[0] = {connection(1'000, to, 40'000, 80)};
  records_[1] = {connection(2'000, from, 80, 40'000)};
  writes(0, 10'000, 11'000, 70'000);
  writes(0, 20'000, 90'000, 70'000);
  reads(1, 30'000, 31'000, 70'000);
  EXPECT_THAT(lines(), Not(Contains(HasSubstr("0 20000 wait"))));
}

// The other end is known later, and may never be.
TEST_F(Channels, WhatIsSentBeforeTheOtherEndIsThereIsReadFromThere) {
  records_[0] = {connection(1'000, to, 40'000, 80)};
  writes(0, 40'000, 41'000, 3);
  records_[1] = {connection(45'000, from, 80, 40'000)};
  reads(1, 46'000, 47'000, 3);
  EXPECT_THAT(lines(), Contains(HasSubstr("1 46000 wait 0")));
}

TEST_F(Channels, ADuplicateIsTheSameUntilItIsClosed) {
  records_[0] = {channel(1'000, from, to), duplicate(2'000, to, 9)};
  writes(0, 40'000, 41'000, 1, 9);
  add(records_[0], LONGPOLE_IO_CLOSES, 9, 42'000, 42'500, 0);
  writes(0, 60'000, 61'000, 1, 9);
  reads(1, 10'000, 41'500, 1);
  reads(1, 50'000, 61'500, 1);
  const auto all = lines();
  EXPECT_THAT(all, Contains(HasSubstr("0 40000 post 0")));
  EXPECT_THAT(all, Not(Contains(HasSubstr("0 60000 post"))));
  EXPECT_THAT(all, Contains("1 50000 external 5 1 cpu=0")) << "something else is written to";
}

TEST_F(Channels, TheEndOfTheDataComesFromWhoClosesLast) {
  records_[0] = {channel(1'000, from, to), duplicate(2'000, to, 9)};
  add(records_[0], LONGPOLE_IO_CLOSES, to, 30'000, 30'500, 0);
  add(records_[2], LONGPOLE_IO_CLOSES, 9, 40'000, 40'500, 0);
  writes(0, 20'000, 20'500, 3);
  std::ranges::stable_sort(records_[0], {}, &RecordFields::tsc);
  reads(1, 10'000, 21'000, 3);
  reads(1, 22'000, 41'000, 0);
  reads(1, 42'000, 42'500, 0);
  const auto all = lines();
  EXPECT_THAT(all, Contains("1 22000 wait 0 cpu=0 took=19000 from=2"));
  EXPECT_THAT(all, Contains(HasSubstr("2 40000 post 0")));
  EXPECT_THAT(all, Not(Contains(HasSubstr("0 30000 post")))) << "another could still write";
  EXPECT_THAT(all, Contains(HasSubstr("1 42000 external 5"))) << "known by then";
}

TEST_F(Channels, ACounterGivesAllThatWasAdded) {
  records_[0] = {channel(1'000, 7, 7)};
  writes(0, 20'000, 20'500, 8, 7);
  writes(0, 21'000, 21'500, 8, 7);
  writes(0, 60'000, 60'500, 8, 7);
  reads(1, 10'000, 30'000, 8, 7);
  reads(1, 40'000, 61'000, 8, 7);
  const auto all = lines();
  EXPECT_THAT(all, Contains(HasSubstr("0 20000 post 0")));
  EXPECT_THAT(all, Not(Contains(HasSubstr("0 21000 post"))));
  EXPECT_THAT(all, Contains(HasSubstr("0 60000 post 0")));
}

TEST_F(Channels, WhoPollsBeforeItReadsWaitsThere) {
  records_[0] = {channel(1'000, from, to)};
  writes(0, 40'000, 41'000, 1);
  polls(1, 10'000, 41'500, 1);
  reads(1, 42'000, 42'500, 1);
  const auto all = lines();
  EXPECT_THAT(all, Contains("1 10000 wait 0 cpu=0 took=31500 from=0"));
  EXPECT_THAT(all, Contains("1 41500 external cpu=0"));
  EXPECT_THAT(all, Contains("1 42000 external 5 1 cpu=0"));
}

// GLib's loop tells itself by a counter, between the poll and the read, that there is more to do.
TEST_F(Channels, WhoPollsMayDoOtherThingsBeforeItReads) {
  records_[0] = {channel(1'000, from, to), channel(1'100, 7, 7)};
  writes(0, 40'000, 41'000, 1);
  polls(1, 10'000, 41'500, 1);
  writes(1, 41'600, 41'700, 8, 7);
  reads(1, 42'000, 42'500, 1);
  reads(1, 43'000, 43'500, 8, 7);
  const auto all = lines();
  EXPECT_THAT(all, Contains("1 10000 wait 0 cpu=0 took=31500 from=0"));
  EXPECT_THAT(all, Contains("1 42000 external 5 1 cpu=0"));
}

TEST_F(Channels, APollDoesNotWaitForWhatIsDoneBehindIt) {
  records_[0] = {channel(1'000, from, to)};
  writes(0, 50'000, 51'000, 1);
  polls(1, 10'000, 41'500, 1);
  reads(1, 42'000, 51'500, 1);
  const auto all = lines();
  EXPECT_THAT(all, Contains("1 10000 external cpu=0"));
  EXPECT_THAT(all, Contains("1 42000 wait 0 cpu=0 took=9500 from=0"));
}

TEST_F(Channels, NorWhatFoundNothing) {
  records_[0] = {channel(1'000, from, to)};
  writes(0, 40'000, 41'000, 1);
  polls(1, 10'000, 41'500, 0);
  reads(1, 42'000, 42'500, 1);
  const auto all = lines();
  EXPECT_THAT(all, Contains("1 10000 external cpu=0"));
  EXPECT_THAT(all, Contains("1 42000 wait 0 cpu=0 took=500 from=0"));
}

// Both are ready when it gets the CPU, and it reads the later one first.
TEST_F(Channels, APollWaitsForTheFirstOfWhatItFound) {
  records_[0] = {channel(1'000, from, to), channel(1'100, 8, 9)};
  writes(0, 20'000, 21'000, 1);
  writes(2, 40'000, 41'000, 1, 9);
  polls(1, 10'000, 41'500, 2);
  reads(1, 42'000, 42'500, 1, 8);
  reads(1, 43'000, 43'500, 1);
  const auto all = lines();
  EXPECT_THAT(all, Contains("1 10000 wait 0 cpu=0 took=31500 from=0"));
  EXPECT_THAT(all, Contains("1 42000 wait 1 cpu=0 took=500 from=2"));
  EXPECT_THAT(all, Contains("1 43000 external 5 1 cpu=0"));
}

TEST_F(Channels, WhatComesFromOutsideOrFromOneselfWakesNobody) {
  records_[0] = {channel(1'000, from, to)};
  writes(0, 40'000, 41'000, 1);
  reads(0, 42'000, 43'000, 1);
  reads(1, 44'000, 50'000, 7);
  EXPECT_THAT(lines(), Not(Contains(HasSubstr("post"))));
}

TEST_F(Channels, ACallThatNeverReturnedStandsStill) {
  records_[0] = {channel(1'000, from, to)};
  records_[1] = {begins_io(LONGPOLE_IO_READS, 10'000, from)};
  add(records_[2], LONGPOLE_IO_READS, from, 10'000, 10'500, 0, EAGAIN);
  add(records_[2], LONGPOLE_IO_OPENS, ~std::uint64_t{0}, 11'000, 12'000, 8);
  const auto all = lines();
  EXPECT_THAT(all, Contains("1 10000 external 5 cpu=0 unfinished"));
  EXPECT_THAT(all, Contains("2 10000 external 5 cpu=0 failed"));
  EXPECT_THAT(all, Contains("2 11000 external 8 cpu=0")) << "the descriptor that it opened";
}

}  // namespace
}  // namespace longpole::recording
