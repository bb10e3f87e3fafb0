#include "recording/raw_chunks.h"

#include <gmock/gmock.h>

#include <random>

#include "raw_bytes.h"

namespace longpole::recording {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> stamps(const RawThread& thread) {
  std::vector<std::uint64_t> result;
  thread.for_each_record([&](const longpole_record& record) { result.push_back(record.tsc); });
  return result;
}

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
  EXPECT_EQ(read_raw_events(file.bytes(), 1).threads.size(), 1U);
}

TEST(RawChunks, ATornTailKeepsWhatIsWhole) {
  EventsFile file;
  file.add_thread(0, 100, {lock_at(10), lock_at(20), lock_at(30)});
  file.bytes().resize(sizeof(longpole_chunk) + 2 * sizeof(longpole_record) + 7);
  EXPECT_THAT(stamps(read_raw_events(file.bytes(), 1).threads.at(0)), ElementsAre(10, 20));
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

TEST(RawChunks, AnyBytesAreRead) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    EventsFile file;
    for (std::uint32_t thread = 0; thread < 3; ++thread)
      file.add_thread(thread, 100, {lock_at(10), lock_at(20)});
    for (int i = 0; i < 20; ++i)
      file.bytes()[random() % file.bytes().size()] = static_cast<std::uint8_t>(random());
    for (std::size_t i = 0; i < sizeof(longpole_chunk); ++i)
      if (random() % 4 == 0)
        file.bytes()[i] = static_cast<std::uint8_t>(random());
    file.bytes().resize(random() % (file.bytes().size() + 1));
    std::size_t records = 0;
    for (const RawThread& thread : read_raw_events(file.bytes(), random() % 8).threads)
      records += stamps(thread).size();
    EXPECT_LE(records, 3 * LONGPOLE_UNIT_BYTES / sizeof(longpole_record));
  }
}

}  // namespace
}  // namespace longpole::recording
