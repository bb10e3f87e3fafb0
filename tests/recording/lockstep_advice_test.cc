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
  for (const Notice& notice : lockstep_advice(run))
    codes.push_back(notice.code);
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

TEST(LockstepAdvice, AttemptsInVainAreSpinningToo) {
  EXPECT_THAT(advice(run_of(
                  std::vector<Event>(20, event_of(EventKind::mutex_trylock, 100, Outcome::ok, 0)))),
              IsEmpty());
  EXPECT_THAT(advice(run_of(std::vector<Event>(
                  20, event_of(EventKind::mutex_trylock, 100, Outcome::busy, 0)))),
              ElementsAre("spinning"));
}

TEST(LockstepAdvice, WorkersOfOneFunctionThatShareALockUnequally) {
  struct Case {
    std::int64_t first_ms;
    std::int64_t second_ms;
    std::uint32_t object_of_second;
    bool advised;
  };
  for (const Case& tried : {Case{95, 5, 0, true}, Case{60, 40, 0, false}, Case{95, 5, 1, false}}) {
    MergedRun run;
    for (const std::int64_t ms : {tried.first_ms, tried.second_ms}) {
      MergedThread thread;
      thread.creator = ThreadId{0};
      thread.start_function = 0x1000;
      thread.events.push_back(event_of(EventKind::mutex_lock, ms * 1'000'000, Outcome::ok,
                                       run.threads.empty() ? 0 : tried.object_of_second));
      run.threads.push_back(std::move(thread));
    }
    SCOPED_TRACE(tried.first_ms);
    SCOPED_TRACE(tried.object_of_second);
    if (tried.advised)
      EXPECT_THAT(advice(run), ElementsAre("work-handed-out"));
    else
      EXPECT_THAT(advice(run), IsEmpty());
  }
}

}  // namespace
}  // namespace longpole::recording
