// What the recorder said alone, by hand, where the kernel's records may not be read, and the events that must come of it.
#include <gmock/gmock.h>

#include "hand_made_run.h"

namespace longpole::recording {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t ms = 1'000'000;

// By the portable source, with a clock that counts nanoseconds.
HandMadeRun portable_run(std::uint64_t ended_ns) {
  HandMadeRun run;
  run.result.kernel_source = false;
  run.result.ended_ns = static_cast<std::int64_t>(ended_ns);
  run.result.clock_pairs.back() = {ended_ns, static_cast<std::int64_t>(ended_ns)};
  return run;
}

TEST(MergePortable, CpuTimeComesFromTheThreadClock) {
  HandMadeRun run;
  run.result.kernel_source = false;
  run.events.add_thread(0, 100,
                        {clocked(call(LONGPOLE_THREAD_START, 500), 400),
                         clocked(call(LONGPOLE_MUTEX_LOCK, 1500, lock_address), 900),
                         {LONGPOLE_CPU_CLOCK, 2000, 1200},
                         begins(LONGPOLE_CONDITION_WAIT, 2000, condition_address, lock_address),
                         {LONGPOLE_CPU_CLOCK, 9000, 1300},
                         returns(LONGPOLE_CONDITION_WAIT, 9000, condition_address, 0, lock_address),
                         clocked(call(LONGPOLE_THREAD_END, 9500), 1700)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 1500 lock 0 cpu=900", "0 2000 cwait 1 0 cpu=300 took=7000",
                          "0 9500 end cpu=500"));
}

// What the stretches between its other calls cannot have been.
TEST(MergePortable, TimeOnTheCpuInsideABlockingCallCountsForWhatFollows) {
  HandMadeRun run;
  run.result.kernel_source = false;
  run.events.add_thread(0, 100,
                        {clocked(call(LONGPOLE_THREAD_START, 500), 400),
                         clocked(begins(LONGPOLE_SEMAPHORE_WAIT, 1000, lock_address), 900),
                         returns(LONGPOLE_SEMAPHORE_WAIT, 5100, lock_address),
                         call(LONGPOLE_SEMAPHORE_POST, 6000, lock_address),
                         call(LONGPOLE_SEMAPHORE_POST, 7000, lock_address),
                         clocked(call(LONGPOLE_THREAD_END, 8000), 4400)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 1000 wait 0 cpu=900 took=4100", "0 6000 post 0 cpu=1500",
                          "0 7000 post 0 cpu=1000", "0 8000 end cpu=1000"));
}

TEST(MergePortable, WhereAThreadHadItsCpuItComputed) {
  HandMadeRun run = portable_run(100 * ms);
  const auto merged = [&](std::uint64_t second_reading) {
    run.events = {};
    run.events.add_thread(
        0, 100,
        {clocked(call(LONGPOLE_THREAD_START, 1 * ms), 1 * ms),
         clocked(call(LONGPOLE_MUTEX_LOCK, 3 * ms, lock_address), 3 * ms),
         clocked(call(LONGPOLE_MUTEX_UNLOCK, 13 * ms, lock_address), second_reading),
         clocked(call(LONGPOLE_MUTEX_LOCK, 33 * ms, lock_address), 23 * ms),
         clocked(call(LONGPOLE_THREAD_END, 43 * ms), 33 * ms)});
    return describe(*run.merge());
  };
  // 10 of the 30 ms were another's: nobody knows where, or it can only be behind the unlock.
  EXPECT_THAT(merged(0), testing::Contains(testing::StartsWith("0 13000000 unlock 0 cpu=6666")));
  EXPECT_THAT(merged(LONGPOLE_HAD_CPU), testing::Contains("0 13000000 unlock 0 cpu=10000000"));
}

TEST(MergePortable, TimeThatNobodyUsedIsAnExternalWait) {
  HandMadeRun run = portable_run(100 * ms);
  run.events.add_thread(0, 100,
                        {clocked(call(LONGPOLE_THREAD_START, 1 * ms), 1 * ms),
                         clocked(call(LONGPOLE_CREATE, 2 * ms, 1), 2 * ms),
                         clocked(call(LONGPOLE_THREAD_END, 62 * ms), 12 * ms)});
  // On the CPU for 20 of the 50 ms that the other was off it.
  run.events.add_thread(1, 101,
                        {clocked(call(LONGPOLE_THREAD_START, 10 * ms), 1000),
                         clocked(call(LONGPOLE_THREAD_END, 30 * ms), 20 * ms + 1000)});
  const std::vector<std::string> lines = describe(*run.merge());
  EXPECT_THAT(lines, testing::Contains("0 2000000 external cpu=0 took=29999000"));
  EXPECT_THAT(lines, testing::Contains("1 30000000 end cpu=20001000"));
}

// A call that waits for nobody known, in which the thread had no CPU. All in milliseconds.
std::vector<RecordFields> slept(std::uint64_t from, std::uint64_t until, std::uint64_t cpu) {
  return {{LONGPOLE_CPU_CLOCK, from * ms, cpu * ms},
          begins(LONGPOLE_FUTEX_WAIT, from * ms, condition_address),
          {LONGPOLE_CPU_CLOCK, until * ms, cpu * ms},
          returns(LONGPOLE_FUTEX_WAIT, until * ms, condition_address, 0)};
}
RecordFields clocked_call(longpole_kind kind, std::uint64_t time, std::uint64_t cpu) {
  return clocked(call(kind, time * ms), cpu * ms);
}

// What becomes of one thread where others have its CPU, too: `looks` say how long it had waited for one by then. In
// milliseconds.
std::vector<std::string> with_looks(
    const std::vector<std::vector<RecordFields>>& records,
    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& looks) {
  HandMadeRun run = portable_run(400 * ms);
  run.result.cpus = 2;
  std::vector<RecordFields> all;
  for (const std::vector<RecordFields>& some : records)
    all.insert(all.end(), some.begin(), some.end());
  run.events.add_thread(0, 100, all);
  for (const auto& [time, waited] : looks)
    run.run_delays[100].add(static_cast<std::int64_t>(time * ms),
                            static_cast<std::int64_t>(waited * ms));
  return describe(*run.merge());
}

TEST(MergePortable, WaitingForACpuLiesWhereTheThreadWasOffIt) {
  // Off the CPU for 20 ms of the tenth of a second between two looks at it.
  const std::vector<std::vector<RecordFields>> records = {
      {clocked_call(LONGPOLE_THREAD_START, 1, 1), clocked_call(LONGPOLE_YIELD, 60, 60),
       clocked_call(LONGPOLE_YIELD, 80, 60), clocked_call(LONGPOLE_THREAD_END, 200, 180)}};
  EXPECT_THAT(with_looks(records, {{0, 0}, {100, 20}, {200, 20}}),
              testing::Each(testing::Not(HasSubstr("external"))));
  EXPECT_THAT(with_looks(records, {{0, 0}, {100, 8}, {200, 8}}),
              testing::Contains("0 60000000 external cpu=0 took=12000000"));
}

// A call that waits sleeps until its end: it had 4 ms to wait for a CPU behind that, and all else came before it.
TEST(MergePortable, WaitingForACpuIsNoSleepBesideACallThatSleeps) {
  EXPECT_THAT(
      with_looks({{clocked_call(LONGPOLE_THREAD_START, 1, 1), clocked_call(LONGPOLE_YIELD, 20, 20),
                   clocked_call(LONGPOLE_YIELD, 44, 20)},
                  slept(45, 337, 21),
                  {clocked_call(LONGPOLE_THREAD_END, 350, 34)}},
                 {{0, 0}, {100, 24}, {300, 24}, {380, 28}}),
      ElementsAre(HasSubstr("yield"), HasSubstr("yield"),
                  "0 45000000 external cpu=1000000 took=288000000", HasSubstr("end")));
}

// Of the 50 ms that it waited for a CPU, 20 outside calls, and the rest in the two that slept, each as much as the other for its
// length.
TEST(MergePortable, CallsThatSleepShareWhatIsLeftOfTheWaitingForACpu) {
  EXPECT_THAT(
      with_looks({{clocked_call(LONGPOLE_THREAD_START, 1, 1), clocked_call(LONGPOLE_YIELD, 10, 10),
                   clocked_call(LONGPOLE_YIELD, 30, 10)},
                  slept(31, 51, 11),
                  slept(52, 92, 12),
                  {clocked_call(LONGPOLE_THREAD_END, 150, 70)}},
                 {{0, 0}, {100, 50}, {200, 50}}),
      ElementsAre(HasSubstr("yield"), HasSubstr("yield"),
                  "0 31000000 external cpu=1000000 took=10000000",
                  "0 52000000 external cpu=1000000 took=20000000", HasSubstr("end")));
}

// Nobody knows what it waited for a CPU in the 10 ms behind the last look; before that it slept.
TEST(MergePortable, ACallThatSleptSinceBeforeTheLastLookSlept) {
  EXPECT_THAT(with_looks({{clocked_call(LONGPOLE_THREAD_START, 1, 1)},
                          slept(30, 190, 30),
                          {clocked_call(LONGPOLE_THREAD_END, 195, 35)}},
                         {{0, 0}, {180, 0}}),
              ElementsAre("0 30000000 external cpu=30000000 took=150000000", HasSubstr("end")));
}

// It did not sleep, nor did it wait for a CPU.
TEST(MergePortable, WhatTheHostStoleOfTheCpuIsNoWait) {
  constexpr std::int64_t ms = 1'000'000;
  for (const std::int64_t stolen : {0 * ms, 6 * ms, 20 * ms}) {
    HandMadeRun run;
    run.result.kernel_source = false;
    run.result.ended_ns = 200 * ms;
    run.result.clock_pairs.back() = {200 * ms, 200 * ms};
    run.result.stolen = {{0, 0}, {100 * ms, stolen}, {200 * ms, stolen}};
    run.events.add_thread(0, 100,
                          {clocked(call(LONGPOLE_THREAD_START, 1 * ms), 1 * ms),
                           clocked(call(LONGPOLE_YIELD, 60 * ms), 60 * ms),
                           clocked(call(LONGPOLE_YIELD, 90 * ms), 60 * ms),
                           clocked(call(LONGPOLE_THREAD_END, 200 * ms), 170 * ms)});
    const std::vector<std::string> lines = describe(*run.merge());
    if (stolen == 0)
      EXPECT_THAT(lines, testing::Contains("0 60000000 external cpu=0 took=30000000"));
    else if (stolen == 6 * ms)
      EXPECT_THAT(lines, testing::Contains("0 60000000 external cpu=0 took=14000000"));
    else
      EXPECT_THAT(lines, testing::Each(testing::Not(HasSubstr("external"))));
  }
}

TEST(MergePortable, SamplesSayHowLongAThreadThatWasCutShortRan) {
  HandMadeRun run = portable_run(20'000'000);
  run.result.exit_signal = 9;
  run.events.add_thread(0, 100,
                        {clocked(call(LONGPOLE_THREAD_START, 1000), 1000),
                         {LONGPOLE_SAMPLE, 4'000'000, 0x400, 4, 0, 0, 0x500},
                         {LONGPOLE_SAMPLE, 9'000'000, 0x400, 4, 0, 0, 0x500}});
  const MergedRun merged = *run.merge();
  EXPECT_THAT(describe(merged), ElementsAre("0 20000000 end cpu=8000000"));
  EXPECT_EQ(merged.run.samples, 8U);
  EXPECT_THAT(merged.paths, ElementsAre(ElementsAre(0x400, 0x500)));
}

// It is due at the tick at which the thread loses its CPU, and comes when the thread has one again.
TEST(MergePortable, ASampleDoesNotSayThatTheThreadRanRightBeforeIt) {
  constexpr std::uint64_t us = 1'000;
  HandMadeRun run = portable_run(20 * ms);
  std::vector<RecordFields> records = {clocked(call(LONGPOLE_THREAD_START, 1 * us), 1 * us)};
  for (std::uint64_t at = 50 * us; at <= 4 * ms; at += 50 * us)
    records.push_back(call(LONGPOLE_SEMAPHORE_POST, at, lock_address));
  const std::uint64_t others_turn = 12 * ms;
  records.push_back(RecordFields{LONGPOLE_SAMPLE, 4 * ms + others_turn, 0x400, 4, 0, 0, 0x500});
  records.push_back(
      clocked(call(LONGPOLE_THREAD_END, 4 * ms + others_turn + 50 * us), 4 * ms + 51 * us));
  run.events.add_thread(0, 100, records);
  std::vector<std::string> lines = describe(*run.merge());
  ASSERT_EQ(lines.size(), 82U);
  EXPECT_EQ(lines[1], "0 100000 post 0 cpu=50000");
  EXPECT_EQ(lines[79], "0 4000000 post 0 cpu=50000");
  EXPECT_THAT(lines[80], HasSubstr("external"));
  EXPECT_EQ(lines[81], "0 16050000 end cpu=51000");
}

TEST(MergePortable, WaitingForATurnIsNeitherCpuTimeNorAWait) {
  HandMadeRun run;
  run.result.kernel_source = false;
  run.result.lockstep = 2;
  run.control.lockstep_cpus = 2;
  run.result.ended_ns = 100 * ms;
  run.result.clock_pairs.back() = {100 * ms, 100 * ms};
  // From 10 to 60 ms another has the turn; giving it away and taking it took 2 ms of CPU time.
  run.events.add_thread(0, 100,
                        {clocked(call(LONGPOLE_THREAD_START, 1 * ms), 1 * ms),
                         clocked(begins(LONGPOLE_TURN, 10 * ms, 0), 10 * ms),
                         clocked(returns(LONGPOLE_TURN, 60 * ms, 2 * ms), 12 * ms),
                         clocked(call(LONGPOLE_THREAD_END, 70 * ms), 22 * ms)});
  const MergedRun merged = *run.merge();
  EXPECT_THAT(describe(merged), ElementsAre("0 70000000 end cpu=20000000"));
  ASSERT_FALSE(merged.notices.empty());
  EXPECT_EQ(merged.notices.front().code, "lockstep");
}

}  // namespace
}  // namespace longpole::recording
