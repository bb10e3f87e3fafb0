// When a recording in lockstep is advised.
#include "recording/lockstep_advice.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace longpole::recording {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> advice(const MergedRun& run) {
  std::vector<std::string> codes;
  for (const Notice& notice : lockstep_advice(run)) {
    EXPECT_TRUE(advises_lockstep(notice)) << notice.code;
    codes.push_back(notice.code);
  }
  return codes;
}

Event event_of(EventKind kind, std::int64_t cpu_ns, Outcome outcome = Outcome::ok,
               std::uint32_t subject = unknown_count) {
  Event event;
  event.kind = kind;
  event.cpu = Nanoseconds{cpu_ns};
  event.outcome = outcome;
  event.subject = subject;
  return event;
}

MergedRun run_of(const std::vector<Event>& events) {
  MergedRun run;
  MergedThread thread;
  thread.events = events;
  run.threads.push_back(std::move(thread));
  return run;
}

TEST(LockstepAdvice, ManyYieldsInARowAreSpinning) {
  for (const std::size_t yields : {std::size_t{19}, std::size_t{20}}) {
    std::vector<Event> events(yields, event_of(EventKind::yield, 100));
    const MergedRun run = run_of(events);
    SCOPED_TRACE(yields);
    if (yields == 20)
      EXPECT_THAT(advice(run), ElementsAre("spinning"));
    else
      EXPECT_THAT(advice(run), IsEmpty());
    // With work in between each does something.
    for (Event& event : events)
      event.cpu = Nanoseconds{30'000};
    EXPECT_THAT(advice(run_of(events)), IsEmpty());
  }
}

// A thread that looks for work for a tenth of a second, in a run of a second or a longer one.
TEST(LockstepAdvice, RowsThatTakeLittleOfTheRunAreNoSpinning) {
  for (const int ms : {1000, 1001}) {
    std::vector<Event> events;
    for (int i = 0; i <= 2000; ++i) {
      events.push_back(event_of(EventKind::yield, 100));
      events.back().time = Nanoseconds{i * 50'000};
    }
    events.push_back(event_of(EventKind::thread_end, 900'000'000));
    events.back().time = std::chrono::milliseconds(ms);
    SCOPED_TRACE(ms);
    if (ms == 1000)
      EXPECT_THAT(advice(run_of(events)), ElementsAre("spinning"));
    else
      EXPECT_THAT(advice(run_of(events)), IsEmpty());
  }
}

// As C++20's waits begin.
TEST(LockstepAdvice, AFewYieldsBeforeAWaitAreNoSpinning) {
  const auto advice_where = [](int yields, EventKind behind, std::int64_t cpu_ns) {
    std::vector<Event> events;
    for (int i = 0; i < 1000; ++i) {
      for (int yield = 0; yield < yields; ++yield)
        events.push_back(event_of(EventKind::yield, 100));
      events.push_back(event_of(behind, cpu_ns, Outcome::ok, 0));
    }
    return advice(run_of(events));
  };
  EXPECT_THAT(advice_where(4, EventKind::semaphore_wait, 100), IsEmpty());
  EXPECT_THAT(advice_where(16, EventKind::barrier_wait, 100), IsEmpty());
  EXPECT_THAT(advice_where(17, EventKind::barrier_wait, 100), ElementsAre("spinning"));
  EXPECT_THAT(advice_where(4, EventKind::mutex_lock, 100), ElementsAre("spinning"));
  EXPECT_THAT(advice_where(4, EventKind::semaphore_wait, 30'000), ElementsAre("spinning"))
      << "it worked in between";
}

TEST(LockstepAdvice, OtherNoticesAdviseNothing) {
  EXPECT_FALSE(advises_lockstep(Notice{"samples-lost", "", 1}));
}

TEST(LockstepAdvice, AttemptsInVainAreSpinningToo) {
  EXPECT_THAT(advice(run_of(
                  std::vector<Event>(20, event_of(EventKind::mutex_trylock, 100, Outcome::ok, 0)))),
              IsEmpty());
  EXPECT_THAT(advice(run_of(std::vector<Event>(
                  20, event_of(EventKind::mutex_trylock, 100, Outcome::busy, 0)))),
              ElementsAre("spinning"));
}

// A worker that takes a lock so many times, and computes for so long in all.
struct Worker {
  std::size_t turns;
  std::int64_t ms;
  std::uint32_t lock = 0;
};

MergedRun run_of(const std::vector<Worker>& workers) {
  MergedRun run;
  for (const Worker& worker : workers) {
    MergedThread thread;
    thread.creator = ThreadId{0};
    thread.start_function = 0x1000;
    const auto each = worker.ms * 1'000'000 / static_cast<std::int64_t>(worker.turns);
    thread.events.assign(worker.turns,
                         event_of(EventKind::mutex_lock, each, Outcome::ok, worker.lock));
    run.threads.push_back(std::move(thread));
  }
  return run;
}

TEST(LockstepAdvice, WorkersOfOneFunctionThatTakeTurnsAtALockUnequally) {
  struct Case {
    const char* what;
    std::vector<Worker> workers;
    bool advised;
  };
  const Case cases[] = {
      {"one of two took nearly all", {{95, 95}, {5, 5}}, true},
      {"two alike", {{60, 60}, {40, 40}}, false},
      {"no lock in common", {{95, 95}, {5, 5, 1}}, false},
      {"unequal pieces, as many for each", {{50, 95}, {50, 5}}, false},
      {"one of four took nearly all", {{2, 2}, {2, 2}, {90, 90}, {6, 6}}, true},
      {"no one took more than twice a share", {{20, 20}, {20, 20}, {40, 40}, {20, 20}}, false},
      // The threads of the sorter that merge: each inserts its numbers into a list that grows.
      {"each its part, under the lock",
       {{1, 1}, {1, 4}, {1, 7}, {1, 10}, {1, 13}, {1, 16}, {1, 60}},
       false},
  };
  for (const Case& tried : cases) {
    SCOPED_TRACE(tried.what);
    if (tried.advised)
      EXPECT_THAT(advice(run_of(tried.workers)), ElementsAre("work-handed-out"));
    else
      EXPECT_THAT(advice(run_of(tried.workers)), IsEmpty());
  }
}

TEST(LockstepAdvice, WorkersThatTryEachOthersLocks) {
  struct Case {
    const char* what;
    EventKind of_others;
    std::size_t times;
    std::uint32_t locks;
    bool advised;
  };
  for (const Case& tried : {
           Case{"a deque of each, tried by the other", EventKind::mutex_trylock, 5, 2, true},
           Case{"waited for", EventKind::mutex_lock, 5, 2, false},
           Case{"tried now and then", EventKind::mutex_trylock, 1, 2, false},
           Case{"one lock", EventKind::mutex_trylock, 5, 1, false},
       }) {
    MergedRun run = run_of(std::vector<Worker>{{10, 50, 0}, {10, 50, 1 % tried.locks}});
    for (std::uint32_t thread = 0; thread < 2; ++thread) {
      const Event other = event_of(tried.of_others, 100, Outcome::ok, (thread + 1) % tried.locks);
      auto& events = run.threads[thread].events;
      events.insert(events.end(), tried.times, other);
    }
    SCOPED_TRACE(tried.what);
    if (tried.advised)
      EXPECT_THAT(advice(run), ElementsAre("work-stolen"));
    else
      EXPECT_THAT(advice(run), IsEmpty());
  }
}

TEST(LockstepAdvice, NamesTheLoopThatWaits) {
  const Notice notice = waiting_loops_notice(0.234, "wait (a.c:7)");
  EXPECT_TRUE(advises_lockstep(notice));
  EXPECT_THAT(notice.text, testing::StartsWith("24% of the CPU time went into loops"));
  EXPECT_THAT(notice.text, testing::HasSubstr("wait (a.c:7)"));
  EXPECT_THAT(notice.text, testing::HasSubstr("--lockstep"));
}

}  // namespace
}  // namespace longpole::recording
