#include "recording/raw_chunks.h"

#include <gmock/gmock.h>

#include <random>

#include "../../recorder/encode_records.h"
#include "raw_bytes.h"

namespace longpole::recording {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> stamps(const RawThread& thread) {
  std::vector<std::uint64_t> result;
  thread.for_each_record([&](const longpole_record& record) { result.push_back(record.tsc); });
  return result;
}

constexpr std::uint32_t units_of_a_chunk = LONGPOLE_CHUNK_BYTES / LONGPOLE_UNIT_BYTES;

RecordFields lock_at(std::uint64_t tsc) {
  return {LONGPOLE_MUTEX_LOCK, tsc, 0x1000, 0x2000};
}

TEST(RawChunks, ChunksOfAThreadFollowEachOtherBySequence) {
  EventsFile file;
  file.add_thread(1, 101, {lock_at(30)}, 0x77, 0x99, 1);
  file.add_thread(0, 100, {lock_at(5)});
  file.add_thread(1, 101, {lock_at(10), lock_at(20)}, 0x77, 0x99, 0);
  const RawEvents events = read_raw_events(file.bytes(), file.units());
  ASSERT_EQ(events.threads.size(), 2U);
  EXPECT_EQ(events.threads[1].tid, 101);
  EXPECT_EQ(events.threads[1].start_function, 0x77U);
  EXPECT_THAT(stamps(events.threads[0]), ElementsAre(5));
  EXPECT_THAT(stamps(events.threads[1]), ElementsAre(10, 20, 30));
  EXPECT_EQ(events.damaged, 0U);
}

TEST(RawChunks, SlotsThatWereNeverFinishedAreSkippedAlsoInTheMiddle) {
  EventsFile file;
  RecordFields torn = lock_at(20);
  torn.kind = LONGPOLE_NOTHING;
  file.add_thread(0, 100, {lock_at(10), torn, lock_at(30)});
  EXPECT_THAT(stamps(read_raw_events(file.bytes(), file.units()).threads.at(0)),
              ElementsAre(10, 30));
}

TEST(RawChunks, UnitsThatWereClaimedAndNeverUsedAreSkipped) {
  EventsFile file;
  file.bytes().resize(LONGPOLE_UNIT_BYTES);
  file.add_thread(0, 100, {lock_at(10)});
  const RawEvents events = read_raw_events(file.bytes(), file.units());
  ASSERT_EQ(events.threads.size(), 1U);
  EXPECT_EQ(events.damaged, 0U);
}

TEST(RawChunks, WhatLiesBehindTheLastUnitHandedOutDoesNotCount) {
  EventsFile file;
  file.add_thread(0, 100, {lock_at(10)});
  file.add_thread(1, 101, {lock_at(10)});
  EXPECT_EQ(read_raw_events(file.bytes(), units_of_a_chunk).threads.size(), 1U);
}

TEST(RawChunks, ATornTailKeepsWhatIsWhole) {
  EventsFile file;
  file.add_thread(0, 100, {lock_at(10), lock_at(20), lock_at(30)});
  file.bytes().resize(sizeof(longpole_chunk) + 2 * sizeof(longpole_record) + 7);
  EXPECT_THAT(stamps(read_raw_events(file.bytes(), units_of_a_chunk).threads.at(0)),
              ElementsAre(10, 20));
}

TEST(RawChunks, AChunkThatWasCopiedAndNotYetEmptiedIsNoDamage) {
  EventsFile file;
  file.add_thread(0, 100, {lock_at(10), lock_at(20)});
  file.add_thread(0, 100, {lock_at(10), lock_at(20)});
  const RawEvents events = read_raw_events(file.bytes(), file.units());
  EXPECT_THAT(stamps(events.threads.at(0)), ElementsAre(10, 20));
  EXPECT_EQ(events.damaged, 0U);
}

TEST(RawChunks, DamagedChunksAreLeftOutAndCounted) {
  EventsFile file;
  file.add_thread(0, 100, {lock_at(10)});
  file.add_thread(1, 101, {lock_at(20)});
  file.add_thread(1, 101, {lock_at(21)});  // the same sequence again
  std::uint32_t odd = LONGPOLE_UNIT_BYTES + 1;
  std::memcpy(file.bytes().data() + offsetof(longpole_chunk, bytes), &odd, sizeof odd);
  const RawEvents events = read_raw_events(file.bytes(), file.units());
  ASSERT_EQ(events.threads.size(), 1U);
  EXPECT_EQ(events.threads[0].number, 1U);
  EXPECT_EQ(events.damaged, 2U);
}

// Like those of a program, few sites and objects, and some that are like nothing.
std::vector<longpole_record> random_records(std::mt19937& random, std::size_t count) {
  std::vector<longpole_record> records(count);
  std::uint64_t stamp = 1'000'000'000'000;
  for (longpole_record& record : records) {
    stamp += random() % 1000;
    record.tsc = random() % 50 == 0 ? random() : stamp - random() % 20;
    record.object = random() % 20 == 0 ? std::uint64_t{random()} << 32U : 0x1000 + random() % 4;
    record.site = random() % 4 == 0 ? 0 : 0x2000 + random() % 100;
    record.other_low = random() % 10 == 0 ? static_cast<std::uint32_t>(random()) : 0;
    record.other_high = static_cast<std::uint16_t>(random() % 3);
    record.result = static_cast<std::uint8_t>(random() % 2);
    record.kind_and_flags = static_cast<std::uint8_t>(1 + random() % 38);
  }
  return records;
}

std::vector<std::uint8_t> encoded(const std::vector<longpole_record>& records) {
  std::vector<std::uint8_t> bytes(records.size() * recorder::kLongestEncoding);
  recorder::EncodingPlaces places;
  recorder::RecordEncoder encoder(places, bytes.data());
  const std::size_t half = records.size() / 2;
  const bool is_whole = encoder.add(records.data(), records.data() + half) &&
                        encoder.add(records.data() + half, records.data() + records.size());
  bytes.resize(is_whole ? encoder.bytes() : 0);
  return bytes;
}

TEST(RawChunks, EncodedRecordsAreThoseThatWereEncoded) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    const std::vector<longpole_record> records = random_records(random, random() % 1000);
    EventsFile file;
    file.add_encoded(7, 0, encoded(records));
    const RawEvents events = read_raw_events(file.bytes(), file.units());
    ASSERT_EQ(events.threads.size(), 1U);
    EXPECT_EQ(events.damaged, 0U);
    std::vector<longpole_record> read;
    events.threads[0].for_each_record(
        [&](const longpole_record& record) { read.push_back(record); });
    ASSERT_EQ(read.size(), records.size());
    EXPECT_TRUE(records.empty() || std::memcmp(read.data(), records.data(),
                                               records.size() * sizeof(longpole_record)) == 0);
  }
}

TEST(RawChunks, AnEmptySlotKeepsAChunkFromBeingEncoded) {
  std::mt19937 random(4);
  std::vector<longpole_record> records = random_records(random, 10);
  records[7].kind_and_flags = LONGPOLE_NOTHING;
  EXPECT_THAT(encoded(records), testing::IsEmpty());
}

TEST(RawChunks, WhatComesBeforeDamageInAnEncodedChunkIsKept) {
  std::mt19937 random(5);
  std::vector<std::uint8_t> bytes = encoded(random_records(random, 10));
  bytes.pop_back();
  EventsFile file;
  file.add_encoded(0, 0, bytes);
  const RawEvents events = read_raw_events(file.bytes(), file.units());
  EXPECT_EQ(stamps(events.threads.at(0)).size(), 9U);
  EXPECT_EQ(events.damaged, 1U);
}

// SIGKILL came while it was written: the pages from some place on are not there, and the mapped chunk still has the records.
TEST(RawChunks, AChunkThatIsNotWrittenToItsEndHoldsNothing) {
  std::mt19937 random(6);
  const std::vector<std::uint8_t> encoded_records = encoded(random_records(random, 1000));
  for (const bool is_last_chunk : {true, false}) {
    EventsFile file;
    file.add_thread(0, 100, {lock_at(10), lock_at(20)});
    const std::size_t before = file.bytes().size();
    file.add_encoded(0, 1, encoded_records);
    const std::uint32_t units = file.units();
    if (is_last_chunk)
      file.bytes().resize(before + LONGPOLE_PAGE_BYTES);
    else
      std::fill(file.bytes().begin() + static_cast<std::ptrdiff_t>(before + LONGPOLE_PAGE_BYTES),
                file.bytes().end(), 0);
    const RawEvents events = read_raw_events(file.bytes(), units);
    EXPECT_THAT(stamps(events.threads.at(0)), ElementsAre(10, 20));
    EXPECT_EQ(events.damaged, 0U);
  }
}

TEST(RawChunks, AChunkThatIsBeingEmptiedHoldsNothing) {
  EventsFile file;
  file.add_thread(0, 100, {lock_at(10), lock_at(20)});
  const std::uint32_t form = LONGPOLE_FORM_NOTHING;
  std::memcpy(file.bytes().data() + offsetof(longpole_chunk, form), &form, sizeof form);
  // What lies behind its header looks like a chunk, and is none.
  const std::uint32_t bytes = LONGPOLE_UNIT_BYTES;
  std::memcpy(file.bytes().data() + LONGPOLE_UNIT_BYTES + offsetof(longpole_chunk, bytes), &bytes,
              sizeof bytes);
  const RawEvents events = read_raw_events(file.bytes(), file.units());
  EXPECT_TRUE(events.threads.empty());
  EXPECT_EQ(events.damaged, 0U);
}

TEST(RawChunks, AnyBytesAreRead) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    EventsFile file;
    for (std::uint32_t thread = 0; thread < 3; ++thread)
      file.add_thread(thread, 100, {lock_at(10), lock_at(20)});
    file.add_encoded(0, 1, encoded(random_records(random, 50)));
    for (int i = 0; i < 60; ++i)
      file.bytes()[random() % file.bytes().size()] = static_cast<std::uint8_t>(random());
    for (std::size_t i = 0; i < sizeof(longpole_chunk); ++i)
      if (random() % 4 == 0)
        file.bytes()[i] = static_cast<std::uint8_t>(random());
    file.bytes().resize(random() % (file.bytes().size() + 1));
    std::size_t records = 0;
    for (const RawThread& thread : read_raw_events(file.bytes(), random() % 8).threads)
      records += stamps(thread).size();
    EXPECT_LE(records, file.bytes().size() / 2);
  }
}

}  // namespace
}  // namespace longpole::recording
