// Waits for futexes by system calls of the program's own, from records made by hand: who woke whom.
#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>

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

// Thread 0 wakes, threads 1, 2, … wait; nobody has created any.
std::vector<std::string> lines_of(const std::vector<RecordFields>& waker,
                                  const std::vector<std::vector<RecordFields>>& waiters) {
  HandMadeRun run;
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

}  // namespace
}  // namespace longpole::recording
