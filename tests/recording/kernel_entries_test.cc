#include "recording/kernel_entries.h"

#include <gmock/gmock.h>

#include <cerrno>

#include "hand_made_run.h"

namespace longpole::recording {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t mutex = lock_address;
constexpr std::uint64_t condition = condition_address;
constexpr std::uint64_t semaphore = 0x3000;

// The stamps of the calls of the first thread that entered the kernel. Ours begin at 100, 200 and so on.
std::vector<std::uint64_t> entered(const std::vector<std::vector<RecordFields>>& threads) {
  EventsFile events;
  for (std::uint32_t i = 0; i < threads.size(); ++i)
    events.add_thread(i, static_cast<std::int32_t>(100 + i), threads[i]);
  const RawEvents raw = read_raw_events(events.bytes(), events.units());
  const KernelEntries entries(raw.threads);
  std::vector<std::uint64_t> stamps;
  raw.threads.front().for_each_record([&](const longpole_record& record) {
    if (entries.contains(ThreadId{0}, record))
      stamps.push_back(record.tsc);
  });
  return stamps;
}

RecordFields locks(std::uint64_t stamp) {
  return call(LONGPOLE_MUTEX_LOCK, stamp, mutex);
}
RecordFields unlocks(std::uint64_t stamp) {
  return call(LONGPOLE_MUTEX_UNLOCK, stamp, mutex);
}
RecordFields signal(std::uint64_t stamp) {
  return call(LONGPOLE_CONDITION_SIGNAL, stamp, condition);
}
RecordFields broadcast(std::uint64_t stamp) {
  return call(LONGPOLE_CONDITION_BROADCAST, stamp, condition);
}
std::vector<RecordFields> waiting(unsigned kind, std::uint64_t from, std::uint64_t to,
                                  std::uint64_t object, int result = 0) {
  return {begins(kind, from, object), returns(kind, to, object, result)};
}
std::vector<RecordFields> waiting_for_condition(std::uint64_t from, std::uint64_t to,
                                                int result = 0) {
  return {begins(LONGPOLE_CONDITION_WAIT, from, condition, mutex),
          returns(LONGPOLE_CONDITION_WAIT, to, condition, result, mutex)};
}

TEST(KernelEntries, AnUnlockEntersTheKernelWhenSomebodyBeganToWaitMeanwhile) {
  const std::vector<RecordFields> ours = {locks(100), unlocks(200), locks(300), unlocks(400),
                                          locks(500), unlocks(600), locks(700), unlocks(800)};
  EXPECT_THAT(entered({ours}), IsEmpty());
  // It was woken at 400 and has no CPU until 650: it is not asleep, and is not woken again at 600.
  EXPECT_THAT(entered({ours, waiting(LONGPOLE_MUTEX_LOCK, 350, 650, mutex)}), ElementsAre(400));
  EXPECT_THAT(entered({ours, waiting(LONGPOLE_MUTEX_LOCK, 350, 650, 0x9000)}), IsEmpty());
  EXPECT_THAT(entered({ours, waiting(LONGPOLE_MUTEX_TIMEDLOCK, 350, 450, mutex, ETIMEDOUT)}),
              ElementsAre(400));
  EXPECT_THAT(entered({ours,
                       {begins(LONGPOLE_MUTEX_LOCK, 550, mutex)},
                       waiting(LONGPOLE_MUTEX_LOCK, 350, 450, mutex)}),
              ElementsAre(400, 600));
}

TEST(KernelEntries, SoDoesAnUnlockOfWhatWasAcquiredByWaiting) {
  const std::vector<RecordFields> other = {locks(50), unlocks(150)};
  EXPECT_THAT(
      entered({{begins(LONGPOLE_MUTEX_LOCK, 100, mutex), returns(LONGPOLE_MUTEX_LOCK, 200, mutex),
                unlocks(300), locks(400), unlocks(500)},
               other}),
      ElementsAre(300));
  EXPECT_THAT(
      entered({{begins(LONGPOLE_MUTEX_TIMEDLOCK, 100, mutex),
                returns(LONGPOLE_MUTEX_TIMEDLOCK, 200, mutex, ETIMEDOUT), locks(400), unlocks(500)},
               other}),
      IsEmpty());
}

TEST(KernelEntries, WhatIsLockedMoreThanOnceIsFreeWithTheLastUnlock) {
  EXPECT_THAT(entered({{locks(100), locks(200), unlocks(300), unlocks(400), unlocks(500)},
                       waiting(LONGPOLE_MUTEX_LOCK, 250, 450, mutex)}),
              ElementsAre(400));
}

TEST(KernelEntries, AfterAWaitForAConditionTheMutexIsAsIfItHadBeenWaitedFor) {
  EXPECT_THAT(entered({{locks(100), begins(LONGPOLE_CONDITION_WAIT, 200, condition, mutex),
                        returns(LONGPOLE_CONDITION_WAIT, 300, condition, 0, mutex), unlocks(400),
                        locks(500), unlocks(600)},
                       waiting(LONGPOLE_MUTEX_LOCK, 150, 250, mutex)}),
              ElementsAre(400));
}

TEST(KernelEntries, ASignalEntersTheKernelForWhoeverWasNotWokenBefore) {
  const std::vector<RecordFields> ours = {signal(100), signal(200), signal(300), signal(400),
                                          signal(500)};
  EXPECT_THAT(entered({ours}), IsEmpty());
  EXPECT_THAT(entered({ours, waiting_for_condition(150, 450)}), ElementsAre(200));
  EXPECT_THAT(entered({ours, waiting_for_condition(150, 450), waiting_for_condition(160, 460),
                       waiting_for_condition(350, 470)}),
              ElementsAre(200, 300, 400));
  // By another's signal.
  EXPECT_THAT(entered({ours, waiting_for_condition(150, 450), {signal(180)}}), IsEmpty());
  // Nobody's: it was cancelled.
  EXPECT_THAT(entered({ours,
                       {begins(LONGPOLE_CONDITION_WAIT, 110, condition, mutex),
                        call(LONGPOLE_THREAD_END, 120)},
                       waiting_for_condition(150, 450)}),
              ElementsAre(200));
  EXPECT_THAT(entered({ours, waiting_for_condition(150, 450, ETIMEDOUT)}), IsEmpty());
}

TEST(KernelEntries, ABroadcastWakesAll) {
  EXPECT_THAT(entered({{broadcast(100), broadcast(200), signal(300), broadcast(400)},
                       waiting_for_condition(150, 450),
                       waiting_for_condition(160, 460)}),
              ElementsAre(200));
}

TEST(KernelEntries, APostEntersTheKernelAsLongAsSomebodyWaits) {
  const auto post = [](std::uint64_t stamp) {
    return call(LONGPOLE_SEMAPHORE_POST, stamp, semaphore);
  };
  EXPECT_THAT(entered({{post(100), post(200), post(300), post(400)},
                       waiting(LONGPOLE_SEMAPHORE_WAIT, 150, 350, semaphore),
                       waiting(LONGPOLE_SEMAPHORE_TIMEDWAIT, 170, 180, semaphore)}),
              ElementsAre(200, 300));
}

}  // namespace
}  // namespace longpole::recording
