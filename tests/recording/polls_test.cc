// Rows of waits for a fixed time, and what they become.
#include "recording/polls.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "trace/event_forms.h"

namespace longpole::recording {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr std::uint32_t done_lock = 0;
constexpr std::uint32_t condition = 1;
constexpr std::uint32_t other_lock = 2;
constexpr std::int64_t ms = 1'000'000;

// At a millisecond, after that much computing just before; it waits for so many milliseconds.
struct Call {
  std::int64_t at;
  EventKind kind;
  std::uint32_t subject = unknown_count;
  std::int64_t waits = 0;
  Outcome outcome = Outcome::ok;
  std::int64_t cpu_us = 0;
  std::uint32_t site = 0;
};

MergedThread thread_of(const std::vector<Call>& calls) {
  MergedThread thread;
  for (const Call& call : calls) {
    Event event;
    event.time = Nanoseconds{call.at * ms};
    event.kind = call.kind;
    event.subject = call.subject;
    event.duration = Nanoseconds{call.waits * ms};
    event.outcome = call.outcome;
    event.cpu = Nanoseconds{call.cpu_us * 1000};
    if (call.kind == EventKind::condition_timedwait)
      event.other = done_lock;
    thread.events.push_back(event);
    thread.sites.push_back(call.site);
  }
  return thread;
}

MergedRun run_of(std::initializer_list<std::vector<Call>> threads) {
  MergedRun run;
  run.objects.resize(3);
  run.run.elapsed = Nanoseconds{100 * ms};
  for (const std::vector<Call>& calls : threads)
    run.threads.push_back(thread_of(calls));
  return run;
}

// "time kind object, took, from, outcome, us of computing"
std::vector<std::string> calls_of(const MergedRun& run, std::size_t thread) {
  std::vector<std::string> lines;
  for (const Event& e : run.threads[thread].events) {
    std::string line = fmt::format("{} {}", e.time.count() / ms, event_form(e.kind).word);
    if (e.subject != unknown_count)
      line += fmt::format(" {}", e.subject);
    if (e.duration.count() != 0)
      line += fmt::format(" took {}", e.duration.count() / ms);
    if (e.waker.known())
      line += fmt::format(" from {}", e.waker.value);
    if (e.outcome != Outcome::ok)
      line += fmt::format(" {}", outcome_word(e.outcome));
    if (e.cpu.count() != 0)
      line += fmt::format(", {} us", e.cpu.count() / 1000);
    lines.push_back(line);
  }
  return lines;
}

Call sleeps(std::int64_t at, std::int64_t waits = 9, std::int64_t cpu_us = 0) {
  return {at, EventKind::sleep, unknown_count, waits, Outcome::ok, cpu_us};
}
Call timed_out(std::int64_t at, std::int64_t waits = 9) {
  return {at, EventKind::condition_timedwait, condition, waits, Outcome::timeout};
}
Call locks(std::int64_t at, std::uint32_t lock = done_lock) {
  return {at, EventKind::mutex_lock, lock};
}
Call unlocks(std::int64_t at, std::uint32_t lock = done_lock) {
  return {at, EventKind::mutex_unlock, lock};
}
Call ends(std::int64_t at, std::int64_t cpu_us = 0) {
  return {at, EventKind::thread_end, unknown_count, 0, Outcome::ok, cpu_us};
}

TEST(Polls, SleepsUntilAnotherThreadEndedAreOneWaitForThat) {
  MergedRun run =
      run_of({{sleeps(10), sleeps(20, 9, 50), sleeps(30, 9, 50), ends(41, 7)}, {ends(35, 900)}});
  const Polls polls = follow_polls(run);
  EXPECT_EQ(polls.waits, 3U);
  EXPECT_EQ(polls.rows, 1U);
  EXPECT_THAT(calls_of(run, 0),
              ElementsAre("10 wait 3 took 25 from 1", "35 sleep took 4", "41 end, 107 us"));
  EXPECT_THAT(calls_of(run, 1), ElementsAre("35 post 3, 900 us", "35 end"));
  ASSERT_EQ(run.objects.size(), 4U);
  EXPECT_EQ(run.objects[3].kind, ObjectKind::semaphore);
  EXPECT_EQ(run.objects[3].stands_for, StandsFor::polls);
  EXPECT_EQ(run.objects[3].woken, ThreadId{0});
  EXPECT_EQ(run.objects[3].initial, 0U);
}

// It looks under a lock, which the other one takes when it is done.
TEST(Polls, SleepsUntilALockWasTakenAreOneWaitForThat) {
  MergedRun run = run_of({{sleeps(10), locks(19), unlocks(19), sleeps(20), locks(29), unlocks(29),
                           sleeps(30), locks(39), unlocks(39), ends(80)},
                          {locks(32), unlocks(33), ends(90)}});
  EXPECT_EQ(follow_polls(run).rows, 1U);
  EXPECT_THAT(calls_of(run, 0), ElementsAre("10 wait 3 took 23 from 1", "33 sleep took 6",
                                            "39 lock 0", "39 unlock 0", "80 end"));
  EXPECT_THAT(calls_of(run, 1), ElementsAre("32 lock 0", "33 unlock 0", "33 post 3", "90 end"));
}

// Its time has passed, but others have the CPU, or the lock under which it looks.
TEST(Polls, WhatIsDoneBeforeThePollerCanLookIsInTimeForIt) {
  for (const Call& looks : {Call{50, EventKind::mutex_lock, done_lock},
                            Call{40, EventKind::mutex_lock, done_lock, 10}}) {
    MergedRun run = run_of({{sleeps(10), locks(19), unlocks(19), sleeps(20), locks(29), unlocks(29),
                             sleeps(30), looks, unlocks(51), ends(80)},
                            {locks(38), unlocks(45), ends(90)}});
    EXPECT_EQ(follow_polls(run).rows, 1U);
    EXPECT_THAT(calls_of(run, 0).front(), "10 wait 3 took 29 from 1");
    EXPECT_THAT(calls_of(run, 1), ElementsAre("38 lock 0", "45 unlock 0", "45 post 3", "90 end"));
  }
  MergedRun run = run_of({{sleeps(10), sleeps(20), sleeps(30), ends(50, 2000)}, {ends(47)}});
  EXPECT_EQ(follow_polls(run).rows, 1U);
  MergedRun too_late = run_of({{sleeps(10), sleeps(20), sleeps(30), ends(50, 4000)}, {ends(47)}});
  EXPECT_EQ(follow_polls(too_late).rows, 0U);
}

// A thread that sleeps between its turns at a lock which others take all the time does not wait for them.
TEST(Polls, ALockThatIsTakenAllTheTimeEndsNothing) {
  MergedRun run =
      run_of({{sleeps(10), locks(19), unlocks(19), sleeps(20), locks(29), unlocks(29), sleeps(30),
               locks(39), unlocks(39), ends(80)},
              {locks(14), unlocks(14), locks(24), unlocks(24), locks(34), unlocks(34), ends(90)}});
  const std::vector<std::string> before = calls_of(run, 0);
  const Polls polls = follow_polls(run);
  EXPECT_EQ(polls.rows, 0U);
  EXPECT_EQ(polls.unexplained_waits, 3U);
  EXPECT_THAT(calls_of(run, 0), ElementsAreArray(before));
}

TEST(Polls, SleepsUntilSomebodyComesToJoinAreOneWaitForThat) {
  MergedRun run =
      run_of({{{36, EventKind::thread_join, 1, 6, Outcome::ok, 400}, ends(60)},
              {sleeps(10), sleeps(20), sleeps(30), locks(40, 2), unlocks(40, 2), ends(42)}});
  EXPECT_EQ(follow_polls(run).rows, 1U);
  EXPECT_THAT(calls_of(run, 0), ElementsAre("36 post 3, 400 us", "36 join 1 took 6", "60 end"));
  EXPECT_THAT(calls_of(run, 1), ElementsAre("10 wait 3 took 26 from 0", "36 sleep took 3",
                                            "40 lock 2", "40 unlock 2", "42 end"));
}

// Who came to join long before was not waited for.
TEST(Polls, AJoinThatBeganBeforeTheLastWaitEndsNothing) {
  MergedRun run = run_of({{{15, EventKind::thread_join, 1, 27}, ends(60)},
                          {sleeps(10), sleeps(20), sleeps(30), ends(42)}});
  EXPECT_EQ(follow_polls(run).rows, 0U);
}

TEST(Polls, WaitsThatTimedOutAreThePartsOfTheOneThatDidNot) {
  MergedRun run = run_of({{locks(5),
                           timed_out(10),
                           timed_out(20),
                           {30, EventKind::condition_timedwait, condition, 5, Outcome::ok, 40},
                           unlocks(36),
                           ends(40)},
                          {{35, EventKind::condition_signal, condition}, ends(50)}});
  const Polls polls = follow_polls(run);
  EXPECT_EQ(polls.rows, 0U);  // nothing is guessed
  EXPECT_THAT(calls_of(run, 0),
              ElementsAre("5 lock 0", "10 ctimedwait 1 took 25", "36 unlock 0, 40 us", "40 end"));
}

TEST(Polls, AWaitForAConditionGivesItsLockBackMeanwhile) {
  MergedRun run =
      run_of({{locks(5), timed_out(10), timed_out(20), timed_out(30), unlocks(40), ends(80)},
              {locks(32), unlocks(33), ends(90)}});
  EXPECT_EQ(follow_polls(run).rows, 1U);
  EXPECT_THAT(calls_of(run, 0),
              ElementsAre("5 lock 0", "10 unlock 0", "10 wait 3 took 23 from 1", "33 lock 0",
                          "33 ctimedwait 1 took 6 timeout", "40 unlock 0", "80 end"));
}

// What is done by two threads that poll each other is not what either waits for.
TEST(Polls, WhatIsPartOfARowEndsNone) {
  MergedRun run = run_of({{sleeps(10), locks(19), unlocks(19), sleeps(20), locks(29), unlocks(29),
                           sleeps(30), ends(95, 56'000)},
                          {sleeps(24), locks(33), unlocks(33), sleeps(34), locks(43), unlocks(43),
                           sleeps(44), ends(99, 46'000)}});
  const std::vector<std::string> before = calls_of(run, 0);
  EXPECT_EQ(follow_polls(run).rows, 0U);
  EXPECT_THAT(calls_of(run, 0), ElementsAreArray(before));
}

TEST(Polls, SamplesGoWhereTheirComputingDoes) {
  MergedRun run = run_of({{sleeps(10, 9, 5), sleeps(20, 9, 50), locks(29), unlocks(29),
                           sleeps(30, 9, 50), ends(41, 7)},
                          {ends(35, 900)}});
  run.threads[0].samples = {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {4, 4, 1}, {5, 5, 1}};
  run.threads[1].samples = {{0, 6, 1}};
  ASSERT_EQ(follow_polls(run).rows, 1U);
  ASSERT_THAT(calls_of(run, 0),
              ElementsAre("10 wait 3 took 25 from 1, 5 us", "35 sleep took 4", "41 end, 107 us"));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
  for (const MergedSample& sample : run.threads[0].samples)
    places.emplace_back(sample.path, sample.event);
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_THAT(places, ElementsAre(Place{1, 0}, Place{2, 2}, Place{3, 2}, Place{4, 2}, Place{5, 2}));
  EXPECT_EQ(run.threads[1].samples[0].event, 0U);
}

struct NoRow {
  const char* name;
  std::vector<Call> calls;
};
void PrintTo(const NoRow& no_row, std::ostream* out) {
  *out << no_row.name;
}
class NoRows : public testing::TestWithParam<NoRow> {};

// Another thread ends during the last wait of each.
TEST_P(NoRows, StayAsTheyAre) {
  MergedRun run = run_of({GetParam().calls, {ends(35)}});
  const std::vector<std::string> before = calls_of(run, 0);
  const Polls polls = follow_polls(run);
  EXPECT_EQ(polls.rows, 0U);
  EXPECT_EQ(polls.unexplained_waits, 0U);
  EXPECT_THAT(calls_of(run, 0), ElementsAreArray(before));
}

INSTANTIATE_TEST_SUITE_P(
    Polls, NoRows,
    testing::Values(NoRow{"TwoSleeps", {sleeps(20), sleeps(30), ends(41)}},
                    NoRow{"MuchIsComputed",
                          {sleeps(10), sleeps(20, 9, 1000), sleeps(30, 9, 1000), ends(41)}},
                    NoRow{"OthersAreLetGo",
                          {sleeps(10),
                           {19, EventKind::condition_signal, condition},
                           sleeps(20),
                           {29, EventKind::condition_signal, condition},
                           sleeps(30),
                           ends(41)}},
                    NoRow{"ALockIsHeld",
                          {locks(5, other_lock), sleeps(10), sleeps(20), sleeps(30),
                           unlocks(40, other_lock), ends(41)}},
                    NoRow{"ALockIsTakenAndKept",
                          {sleeps(10), locks(19), sleeps(20), sleeps(30), unlocks(40), ends(41)}},
                    NoRow{"OtherLines",
                          {sleeps(10),
                           {20, EventKind::sleep, unknown_count, 9, Outcome::ok, 0, 1},
                           sleeps(30),
                           ends(41)}}),
    [](const auto& no_row) { return std::string(no_row.param.name); });

TEST(Polls, WhoIsAloneWaitsForNobody) {
  MergedRun run = run_of({{sleeps(10), sleeps(20), sleeps(30), ends(41)}});
  EXPECT_EQ(follow_polls(run).unexplained_waits, 0U);
}

// A row that is over soon is not worth a word.
TEST(Polls, OnlyLongRowsWithoutACauseAreTold) {
  for (const std::int64_t elapsed : {300, 301}) {
    MergedRun run = run_of({{sleeps(10), sleeps(20), sleeps(30, 10), ends(80)}, {ends(90)}});
    run.run.elapsed = Nanoseconds{elapsed * ms};
    EXPECT_EQ(follow_polls(run).unexplained_waits, elapsed == 300 ? 3U : 0U);
  }
}

}  // namespace
}  // namespace longpole::recording
