// Work that threads take who have the CPU.
#include "recording/taken_work.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "recording/lockstep_advice.h"

namespace longpole::recording {
namespace {

constexpr std::uint32_t queue_mutex = 0;
constexpr std::uint32_t queue_condition = 1;

Event event_of_pool(std::int64_t us, EventKind kind, std::uint32_t subject,
                    std::int64_t cpu_us = 0) {
  Event event;
  event.time = Nanoseconds{us * 1000};
  event.kind = kind;
  event.subject = subject;
  event.cpu = Nanoseconds{cpu_us * 1000};
  return event;
}

Event wait_of_pool(std::int64_t us, std::int64_t lasts_us, std::uint32_t waker) {
  Event event = event_of_pool(us, EventKind::condition_wait, queue_condition);
  event.other = queue_mutex;
  event.duration = Nanoseconds{lasts_us * 1000};
  event.waker = ThreadId{waker};
  return event;
}

Event signal_of_pool(std::int64_t us, EventKind kind = EventKind::condition_signal) {
  Event event = event_of_pool(us, kind, queue_condition);
  event.other = 1;
  return event;
}

// A puts a piece of work into the queue and wakes B, as often as that, takes `turns` pieces of 100 us itself while B
// has no CPU, and waits, once, so that it is one of the pool.
MergedRun pool_run(int rounds, int turns, EventKind wakes = EventKind::condition_signal) {
  MergedRun run;
  run.threads.resize(2);
  std::vector<Event>& a = run.threads[0].events;
  std::vector<Event>& b = run.threads[1].events;
  a.push_back(wait_of_pool(0, 1, 1));
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t at = 1000 * round + 10;
    b.push_back(wait_of_pool(at, 990, 0));
    a.push_back(signal_of_pool(at + 1, wakes));
    for (int turn = 0; turn < turns; ++turn)
      a.push_back(event_of_pool(at + 2 + 100 * turn, EventKind::mutex_lock, queue_mutex,
                                turn == 0 ? 0 : 100));
    // Behind the last piece.
    a.push_back(event_of_pool(at + 2 + 100 * turns, EventKind::mutex_lock, queue_mutex, 100));
    a.push_back(event_of_pool(at + 3 + 100 * turns, EventKind::mutex_unlock, queue_mutex));
  }
  return run;
}

TEST(TakenWork, IsWhatOthersTakeFromAWakeUpToTheReturn) {
  const TakenWork taken = work_taken_past_woken(pool_run(5, 4));
  EXPECT_EQ(taken.turns, 20U);
  EXPECT_EQ(taken.cpu, std::chrono::microseconds(5 * 4 * 100));
}

TEST(TakenWork, IsNoneBeforeTheWakeUpAndBehindTheReturn) {
  MergedRun run = pool_run(1, 4);
  run.threads[1].events[0].duration =
      std::chrono::microseconds(150);  // until 160: two were taken by then
  EXPECT_EQ(work_taken_past_woken(run).turns, 2U);
  for (Event& event : run.threads[0].events)
    if (event.kind == EventKind::condition_signal)
      event.time = std::chrono::microseconds(150);
  EXPECT_EQ(work_taken_past_woken(run).turns, 0U);
}

TEST(TakenWork, IsNoneWhereOneThreadAloneWaits) {
  MergedRun run = pool_run(5, 4);
  run.threads[0].events.erase(run.threads[0].events.begin());
  EXPECT_EQ(work_taken_past_woken(run).turns, 0U);
}

TEST(TakenWork, IsNoneOfBroadcasts) {
  EXPECT_EQ(work_taken_past_woken(pool_run(5, 4, EventKind::condition_broadcast)).turns, 0U);
}

TEST(TakenWork, AdvisesLockstepWhereItIsMuchOfTheRun) {
  const auto advised = [](const MergedRun& run) { return !lockstep_advice(run).empty(); };
  EXPECT_TRUE(advised(pool_run(5, 4)));
  EXPECT_FALSE(advised(pool_run(19, 1))) << "19 turns";
  MergedRun run = pool_run(5, 4);
  run.threads[1].events.push_back(event_of_pool(9000, EventKind::run, unknown_count, 3000));
  EXPECT_TRUE(advised(run)) << "two milliseconds of five";
  run.threads[1].events.back().cpu += std::chrono::microseconds(1);
  EXPECT_FALSE(advised(run));
}

}  // namespace
}  // namespace longpole::recording
