// Waits for futexes by system calls of the program's own, from records made by hand: who woke whom.
#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "hand_made_run.h"

namespace longpole::recording {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t futex = 0x70;
constexpr std::uint64_t other_futex = 0x80;

RecordFields waits(std::uint64_t tsc, std::uint64_t address = futex) {
  return begins(LONGPOLE_FUTEX_WAIT, tsc, address);
}
RecordFields goes_on(std::uint64_t tsc, int result = 0, std::uint64_t address = futex) {
  return returns(LONGPOLE_FUTEX_WAIT, tsc, address, result);
}
RecordFields wakes(std::uint64_t tsc, int woken, std::uint64_t address = futex) {
  return call(LONGPOLE_FUTEX_WAKE, tsc, address, woken);
}

constexpr std::uint64_t in_barrier = 0x9000;  // return addresses from here on are

RecordFields waits_at_barrier(std::uint64_t tsc) {
  RecordFields fields = waits(tsc);
  fields.site = in_barrier;
  return fields;
}

// Thread 0 wakes, threads 1, 2, … wait; nobody has created any.
std::vector<std::string> lines_of(const std::vector<RecordFields>& waker,
                                  const std::vector<std::vector<RecordFields>>& waiters) {
  HandMadeRun run;
  run.is_barrier_wait = [](std::span<const std::uint64_t> path) {
    return std::ranges::any_of(path, [](std::uint64_t address) { return address >= in_barrier; });
  };
  run.events.add_thread(0, 100, waker);
  std::uint32_t number = 0;
  for (const std::vector<RecordFields>& waiter : waiters) {
    ++number;
    run.events.add_thread(number, 100 + static_cast<std::int32_t>(number), waiter);
  }
  return describe(*run.merge());
}

TEST(Futexes, AWaitIsForTheThreadThatWokeIt) {
  const auto lines = lines_of({wakes(50'000, 1)}, {{waits(10'000), goes_on(60'000)}});
  EXPECT_THAT(lines, Contains("0 50000 post 0 cpu=50000"));
  EXPECT_THAT(lines, Contains(HasSubstr("1 10000 wait 0 cpu=0 took=50000 from=0")));
}

TEST(Futexes, WhoWaitsLongestIsWokenFirst) {
  const auto lines = lines_of({wakes(50'000, 1), wakes(70'000, 1)},
                              {{waits(20'000), goes_on(80'000)}, {waits(10'000), goes_on(60'000)}});
  EXPECT_THAT(lines, Contains(HasSubstr("0 50000 post 0")));
  EXPECT_THAT(lines, Contains(HasSubstr("0 70000 post 1")));
  EXPECT_THAT(lines, Contains(HasSubstr("1 20000 wait 1")));
  EXPECT_THAT(lines, Contains(HasSubstr("2 10000 wait 0")));
}

TEST(Futexes, OneCallWakesAsManyAsItSays) {
  const auto lines =
      lines_of({wakes(50'000, 2), wakes(90'000, 255)}, {{waits(10'000), goes_on(60'000)},
                                                        {waits(20'000), goes_on(61'000)},
                                                        {waits(30'000), goes_on(95'000)}});
  EXPECT_EQ(std::ranges::count_if(
                lines, [](const auto& line) { return line.starts_with("0 50000 post"); }),
            2);
  EXPECT_EQ(std::ranges::count_if(
                lines, [](const auto& line) { return line.starts_with("0 90000 post"); }),
            1);
}

TEST(Futexes, WhatNoWakeEndedIsNoWaitForAThread) {
  // A wake that found nobody, of another futex, before the wait, after it; a wait that timed out.
  for (const std::vector<RecordFields>& waker : {std::vector{wakes(50'000, 0)},
                                                 {wakes(50'000, 1, other_futex)},
                                                 {wakes(5'000, 1)},
                                                 {wakes(65'000, 1)}})
    EXPECT_THAT(lines_of(waker, {{waits(10'000), goes_on(60'000)}}),
                Not(Contains(HasSubstr(" post "))));
  EXPECT_THAT(lines_of({wakes(50'000, 1)}, {{waits(10'000), goes_on(60'000, ETIMEDOUT)}}),
              Not(Contains(HasSubstr(" post "))));
}

TEST(Futexes, AWaitInsideARecordedCallIsItsWayOfWaiting) {
  const auto lines = lines_of({wakes(50'000, 1)},
                              {{begins(LONGPOLE_SEMAPHORE_WAIT, 5'000, 0x90), waits(10'000),
                                goes_on(60'000), returns(LONGPOLE_SEMAPHORE_WAIT, 61'000, 0x90)}});
  EXPECT_THAT(lines, Not(Contains(HasSubstr(" post "))));
}

TEST(Futexes, EachOfSeveralWaitsHasItsWaker) {
  const auto lines = lines_of({wakes(20'000, 1), wakes(50'000, 1)},
                              {{waits(10'000), goes_on(25'000), waits(26'000),
                                goes_on(30'000, EAGAIN), waits(40'000), goes_on(60'000)}});
  EXPECT_THAT(lines, Contains(HasSubstr("0 20000 post 0")));
  EXPECT_THAT(lines, Contains(HasSubstr("0 50000 post 0")));
  EXPECT_THAT(lines, Contains(HasSubstr("1 10000 wait 0")));
  EXPECT_THAT(lines, Contains(HasSubstr("1 40000 wait 0")));
}

TEST(Futexes, WhoWasToBeWokenBeforeItSleptWaitedAsWell) {
  // The wake that came meanwhile, whether it woke somebody else or nobody.
  const auto lines = lines_of({wakes(50'000, 0)}, {{waits(10'000), goes_on(60'000, EAGAIN)}});
  EXPECT_THAT(lines, Contains(HasSubstr("0 50000 post 0")));
  EXPECT_THAT(lines, Contains(HasSubstr("1 10000 wait 0 cpu=0 took=50000 from=0")));
  const auto with_another = lines_of({wakes(50'000, 1)}, {{waits(20'000), goes_on(60'000, EAGAIN)},
                                                          {waits(30'000), goes_on(61'000)}});
  EXPECT_THAT(with_another, Contains(HasSubstr("1 20000 wait 0")));
  EXPECT_THAT(with_another, Contains(HasSubstr("2 30000 wait 1")));
}

TEST(Futexes, WhoWasWokenAndHadNoTurnAnyMoreWaitedAsWell) {
  const RecordFields waits_for_turn = begins(LONGPOLE_TURN, 60'000, 0);
  EXPECT_THAT(lines_of({wakes(50'000, 1)}, {{waits(10'000), waits_for_turn}}),
              Contains("1 10000 wait 0 cpu=0 unfinished"));
  EXPECT_THAT(lines_of({wakes(50'000, 1)}, {{waits(10'000)}}), Not(Contains(HasSubstr("wait"))))
      << "nobody knows that it was this one";
}

TEST(Futexes, WhoWakesThoseAtABarrierIsTheLastToCome) {
  const auto lines = lines_of({wakes(50'000, 255)}, {{waits_at_barrier(10'000), goes_on(60'000)},
                                                     {waits_at_barrier(20'000), goes_on(61'000)}});
  EXPECT_THAT(lines, Contains("0 50000 barrier 0 3 cpu=50000"));
  EXPECT_THAT(lines, Contains(HasSubstr("1 10000 barrier 0 3 cpu=0 took=50000 from=0")));
  EXPECT_THAT(lines, Contains(HasSubstr("2 20000 barrier 0 3 cpu=0 took=41000 from=0")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr(" post "))));
}

TEST(Futexes, OneBarrierIsForThoseWhoComeToItTogether) {
  const auto lines = lines_of(
      {wakes(20'000, 255), wakes(40'000, 255), wakes(60'000, 255)},
      {{waits_at_barrier(10'000), goes_on(25'000), waits_at_barrier(30'000), goes_on(45'000),
        waits_at_barrier(50'000), goes_on(65'000)},
       {waits_at_barrier(11'000), goes_on(26'000), waits_at_barrier(51'000), goes_on(66'000)}});
  EXPECT_THAT(lines, Contains(HasSubstr("0 20000 barrier 0 3")));
  EXPECT_THAT(lines, Contains(HasSubstr("0 40000 barrier 1 2")));
  EXPECT_THAT(lines, Contains(HasSubstr("0 60000 barrier 0 3")));
}

TEST(Futexes, WhoOnlyWaitsThereIsWokenWhenAllHaveCome) {
  const auto lines = lines_of({wakes(50'000, 255)}, {{waits_at_barrier(10'000), goes_on(60'000)},
                                                     {waits(20'000), goes_on(61'000)}});
  const auto arrival = std::ranges::find(lines, "0 50000 barrier 0 2 cpu=50000");
  ASSERT_NE(arrival, lines.end());
  EXPECT_THAT(*(arrival + 1), HasSubstr("0 50000 post 1"));
  EXPECT_THAT(lines, Contains(HasSubstr("1 10000 barrier 0 2")));
  EXPECT_THAT(lines, Contains(HasSubstr("2 20000 wait 1")));
}

TEST(Futexes, WhereAWaitIsMayBeFurtherOut) {
  const RecordFields frames{LONGPOLE_FRAMES, 9'000, 0x61, 0, 0, 0, in_barrier + 1};
  const auto lines =
      lines_of({wakes(50'000, 1), wakes(90'000, 1)},
               {{frames, waits(10'000), goes_on(60'000), waits(70'000), goes_on(95'000)}});
  EXPECT_THAT(lines, Contains(HasSubstr("1 10000 barrier")));
  EXPECT_THAT(lines, Contains(HasSubstr("1 70000 wait")));
}

}  // namespace
}  // namespace longpole::recording
