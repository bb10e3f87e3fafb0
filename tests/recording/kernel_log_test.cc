#include "recording/kernel_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <utility>

#include "raw_bytes.h"

namespace longpole::recording {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

KernelLog read(std::initializer_list<PerfSpool*> spools, std::int64_t cpu_time = 0,
               std::int64_t ended = 1'000'000, const KernelCosts& costs = {},
               PerfSpool* wakes = nullptr) {
  std::vector<std::span<const std::uint8_t>> bytes;
  for (PerfSpool* spool : spools)
    bytes.emplace_back(spool->bytes());
  std::vector<std::span<const std::uint8_t>> wake_bytes;
  std::optional<WakeSpools> privileged;
  if (wakes != nullptr) {
    wake_bytes.emplace_back(wakes->bytes());
    privileged = {PerfSpool::tracepoints, wake_bytes};
  }
  return read_kernel_log(bytes, PerfSpool::pid, {0, ended, cpu_time}, privileged, {}, costs);
}

std::vector<std::string> gaps(const Task& task) {
  std::vector<std::string> lines;
  for (const Gap& gap : task.gaps)
    lines.push_back(fmt::format("{} {} {}", gap.from, gap.ready, gap.until));
  return lines;
}

// A thread that is on the CPU a thousand times for 100 ns, of which the process clock has 150, and once more until its end.
KernelLog many_switches(bool preempted, const KernelCosts& costs) {
  PerfSpool spool;
  spool.exec(0, 100);
  for (std::int64_t i = 0; i < 999; ++i) {
    spool.out(i * 1000 + 100, 100, preempted);
    spool.in((i + 1) * 1000, 100);
  }
  spool.out(999'100, 100, preempted);
  return read({&spool}, 150'000, 1'000'000, costs);
}

TEST(KernelLog, SwitchesTakeTheTimeThatNobodyHasLessWhatRecordingThemTook) {
  for (const auto& [recorded, left] :
       {std::pair{0, 150'000}, {30, 120'000}, {80, 70'000}, {200, 0}}) {
    for (const bool preempted : {false, true}) {
      const KernelCosts costs =
          preempted ? KernelCosts{.switch_ns = recorded} : KernelCosts{.sleep_ns = recorded};
      KernelLog log = many_switches(preempted, costs);
      EXPECT_EQ(log.tasks.at(0).cpu.total(), left) << recorded << preempted;
      EXPECT_EQ(log.taken_out_ns, 150'000 - left) << recorded << preempted;
    }
  }
}

TEST(KernelLog, WhatSamplesTakeIsTakenOutOfWhatTheyInterrupted) {
  PerfSpool spool;
  spool.exec(0, 100);
  spool.sample(100, 100, {1});
  spool.sample(400, 100, {1});
  spool.out(400, 100);
  spool.in(500, 101);
  spool.sample(600, 101, {1});
  spool.out(620, 101);
  spool.in(700, 100);
  spool.exit(900, 100);
  KernelLog log = read({&spool}, 0, 1'000'000, {.sample_ns = 150});
  ASSERT_EQ(log.tasks.size(), 2U);
  EXPECT_EQ(log.tasks[0].cpu.at(400), 100);
  EXPECT_EQ(log.tasks[0].cpu.total(), 300);
  EXPECT_EQ(log.tasks[1].cpu.total(), 0) << "no more than there is";
  EXPECT_EQ(log.taken_out_ns, 420);
}

TEST(KernelLog, WhatTracepointsTakeIsTakenOutOfWhoSleepsAndOfWhoWakes) {
  PerfSpool spool;
  spool.exec(0, 100);
  spool.out(400, 100);
  spool.in(500, 101);
  spool.out(900, 101, true);
  spool.in(1000, 100);
  spool.exit(1200, 100);
  PerfSpool wakes;
  wakes.blocking(390, 100, {1});
  wakes.waking(600, 101, 100, {2});
  wakes.waking(700, 101, 102, {2});
  KernelLog log = read({&spool}, 0, 1'000'000, {.tracepoint_ns = 30, .sample_ns = 1000}, &wakes);
  ASSERT_EQ(log.tasks.size(), 2U);
  EXPECT_EQ(log.tasks[0].cpu.at(400), 400 - 30);
  EXPECT_EQ(log.tasks[0].cpu.total(), 400 - 30 + 200);
  EXPECT_EQ(log.tasks[1].cpu.total(), 400 - 2 * 30);
  EXPECT_EQ(log.taken_out_ns, 3 * 30);
}

TEST(KernelLog, AThreadIsOnTheCpuBetweenItsSwitches) {
  PerfSpool spool;
  spool.exec(100, 100);
  spool.out(300, 100);
  spool.in(500, 100);
  spool.exit(900, 100);
  KernelLog log = read({&spool});
  ASSERT_EQ(log.tasks.size(), 1U);
  CpuCurve& cpu = log.tasks[0].cpu;
  EXPECT_EQ(cpu.at(50), 0);
  EXPECT_EQ(cpu.at(200), 100);
  EXPECT_EQ(cpu.at(400), 200);
  EXPECT_EQ(cpu.at(600), 300);
  EXPECT_EQ(cpu.at(2000), 600);
  EXPECT_EQ(log.tasks[0].born, 100);
  EXPECT_EQ(log.tasks[0].died, 900);
  EXPECT_EQ(log.execs, 1U);
}

TEST(KernelLog, AThreadThatWasKilledOnItsCpuRanUntilTheEnd) {
  PerfSpool spool;
  spool.exec(0, 100);
  EXPECT_EQ(read({&spool}, 0, 700).tasks.at(0).cpu.total(), 700);
}

TEST(KernelLog, WhoeverIsOnTheCpuBehindLostRecordsHasHadItSince) {
  PerfSpool spool;
  spool.exec(0, 100);
  spool.fork(50, 101, 100);
  spool.fork(60, 102, 100);
  spool.out(100, 100);
  spool.lost(400, 3);
  spool.sample(500, 101, {1});
  spool.out(600, 101);
  spool.in(610, 100);
  spool.lost(900, 2);
  spool.out(1000, 102);
  KernelLog log = read({&spool});
  ASSERT_EQ(log.tasks.size(), 3U);
  EXPECT_EQ(log.tasks[0].cpu.total(), 100);
  EXPECT_EQ(log.tasks[1].cpu.total(), 500);
  EXPECT_EQ(log.tasks[2].cpu.total(), 390);
}

TEST(KernelLog, IntervalsOnSeveralCpusAddUp) {
  PerfSpool first;
  PerfSpool second;
  first.exec(0, 100);
  first.out(100, 100, true);
  second.in(150, 100);
  second.exit(250, 100);
  EXPECT_EQ(read({&first, &second}).tasks.at(0).cpu.total(), 200);
}

TEST(KernelLog, ASleepOnAnIdleCpuLastsUntilTheThreadIsBack) {
  PerfSpool spool;
  spool.exec(0, 100);
  spool.out(100'000, 100);
  spool.in(500'000, 100);
  spool.exit(600'000, 100);
  EXPECT_THAT(gaps(read({&spool}).tasks.at(0)), ElementsAre("100000 500000 500000"));
}

TEST(KernelLog, WhoeverIsPreemptedForASleeperSaysWhenItWoke) {
  PerfSpool spool;
  spool.exec(0, 100);
  spool.fork(10, 101, 100);
  spool.out(100'000, 100);
  spool.in(101'000, 101);
  spool.out(500'000, 101, true);
  spool.in(501'000, 100);
  spool.exit(600'000, 100);
  const KernelLog log = read({&spool});
  EXPECT_THAT(gaps(log.tasks.at(0)), ElementsAre("100000 501000 501000"));
}

TEST(KernelLog, ASleeperThatComesAfterABlockingThreadMayHaveWaitedForItsCpu) {
  PerfSpool spool;
  spool.exec(0, 100);
  spool.fork(10, 101, 100);
  spool.out(100'000, 100);
  spool.in(400'000, 101);
  spool.out(500'000, 101);
  spool.in(501'000, 100);
  spool.exit(600'000, 100);
  const KernelLog log = read({&spool});
  EXPECT_THAT(gaps(log.tasks.at(0)), ElementsAre("100000 400000 501000"));
}

TEST(KernelLog, BeingPreemptedIsNoSleep) {
  PerfSpool spool;
  spool.exec(0, 100);
  spool.out(100'000, 100, true);
  spool.in(500'000, 100);
  spool.exit(600'000, 100);
  EXPECT_THAT(gaps(read({&spool}).tasks.at(0)), IsEmpty());
}

TEST(KernelLog, AnIdUsedAgainIsAnotherThread) {
  PerfSpool spool;
  spool.exec(0, 100);
  spool.fork(10, 101, 100);
  spool.out(20, 100, true);
  spool.in(20, 101);
  spool.exit(50, 101);
  spool.in(50, 100);
  spool.fork(60, 101, 100);
  spool.out(70, 100, true);
  spool.in(70, 101);
  spool.exit(170, 101);
  const KernelLog log = read({&spool});
  ASSERT_EQ(log.tasks.size(), 3U);
  EXPECT_EQ(log.tasks[1].cpu.total(), 30);
  EXPECT_EQ(log.tasks[2].cpu.total(), 100);
}

TEST(KernelLog, ChildrenOfTheProgramAreLeftOut) {
  PerfSpool spool;
  spool.exec(0, 100);
  spool.out(100, 100);
  spool.in_of(200, 110, 200);
  spool.exit(900, 200);
  EXPECT_EQ(read({&spool}).tasks.size(), 1U);
}

TEST(KernelLog, ALostSwitchEndsAnIntervalAtTheNextThreadOnThatCpu) {
  PerfSpool spool;
  spool.exec(0, 100);
  spool.fork(10, 101, 100);
  spool.lost(100, 1);
  spool.in(300, 101);
  spool.exit(400, 101);
  const KernelLog log = read({&spool});
  EXPECT_EQ(log.tasks.at(0).cpu.total(), 300);
  EXPECT_EQ(log.lost, 1U);
}

TEST(KernelLog, TimeStolenFromTheIntervalsIsTakenOutInProportion) {
  PerfSpool spool;
  spool.exec(0, 100);
  spool.exit(1000, 100);
  EXPECT_EQ(read({&spool}, 600).tasks.at(0).cpu.total(), 600);
}

// By the host of a virtual machine, and seen: it is taken out where it was stolen, as far as the process clock agrees.
TEST(KernelLog, TimeSeenToBeStolenIsTakenOutOfWhatRanMeanwhile) {
  const auto cpu_times = [](std::int64_t cpu_time) {
    PerfSpool cpu;
    cpu.exec(0, 100);
    cpu.out(100'000, 100);
    cpu.in(200'000, 100);
    cpu.exit(300'000, 100);
    const std::vector<StolenLook> looks{{0, 0}, {150'000, 0}, {350'000, 60'000}};
    const KernelLog log =
        read_kernel_log(std::vector<std::span<const std::uint8_t>>{cpu.bytes()}, PerfSpool::pid,
                        {0, 1'000'000, cpu_time, StolenTime(looks, 0)});
    CpuCurve curve = log.tasks.at(0).cpu;
    return std::pair(curve.at(100'000), curve.total());
  };
  EXPECT_EQ(cpu_times(140'000), std::pair(100'000L, 140'000L));
  EXPECT_EQ(cpu_times(170'000), std::pair(100'000L, 170'000L)) << "some was stolen of others";
  EXPECT_EQ(cpu_times(70'000), std::pair(50'000L, 70'000L)) << "interrupts took the rest";
  EXPECT_EQ(cpu_times(200'000), std::pair(100'000L, 200'000L));
  EXPECT_EQ(cpu_times(0), std::pair(100'000L, 200'000L))
      << "not known, and the counter of stolen time goes in long steps";
}

TEST(KernelLog, TheTimeOfManySwitchesIsSharedOutAmongTheIntervals) {
  PerfSpool spool;
  spool.exec(0, 100);
  for (std::int64_t i = 0; i < 2000; ++i) {
    spool.out(i * 100 + 50, 100);
    spool.in(i * 100 + 100, 100);
  }
  spool.exit(200'050, 100);
  const std::int64_t intervals = 2001 * 50;
  EXPECT_EQ(read({&spool}, intervals + 2001 * 7).tasks.at(0).cpu.total(), intervals + 2001 * 7);
}

TEST(KernelLog, SamplesKeepTheirCallPaths) {
  PerfSpool spool;
  spool.exec(0, 100);
  spool.sample(10, 100, {1, 2});
  spool.sample(20, 100, {3});
  spool.sample(30, 100, {1, 2});
  spool.exit(40, 100);
  const KernelLog log = read({&spool});
  ASSERT_EQ(log.tasks.at(0).samples.size(), 3U);
  EXPECT_EQ(log.paths.size(), 2U);
  EXPECT_EQ(log.tasks[0].samples[0].path, log.tasks[0].samples[2].path);
  EXPECT_EQ(log.tasks[0].samples[1].time, 20);
}

}  // namespace
}  // namespace longpole::recording
