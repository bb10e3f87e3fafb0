// Small programs under each scheduler, with the intervals that its page promises.
#include <gmock/gmock.h>

#include "machine_table.h"
#include "simulation/simulator.h"
#include "trace/program_text.h"

namespace longpole::simulation {
namespace {

struct Case {
  std::string name;
  std::string program;
  Machine machine;
  std::string table;
};

void PrintTo(const Case& test, std::ostream* out) {
  *out << test.name;
}

class SchedulerExample : public testing::TestWithParam<Case> {};

TEST_P(SchedulerExample, RunsAsWritten) {
  EXPECT_EQ(machine_table(GetParam().program, GetParam().machine), GetParam().table);
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

Machine on_cpus(SchedulerKind scheduler, std::uint32_t cpus) {
  Machine machine;
  machine.scheduler = scheduler;
  machine.cpus = cpus;
  return machine;
}

Machine fifo(std::uint32_t cpus) {
  return on_cpus(SchedulerKind::fifo, cpus);
}

INSTANTIATE_TEST_SUITE_P(
    Fifo, SchedulerExample,
    testing::Values(Case{"OneAfterTheOther", R"(
thread A
  run f 3
thread B
  run f 2
)",
                         fifo(1), R"(A: cpu0 0-3 run, end@3
B: runnable 0-3 after A, cpu0 3-5 run, end@5
)"},
                    Case{"HigherPriorityTakesTheCpuAtOnce", R"(
thread A priority=1
  run f 2
  create B
  run f 3
thread B priority=2
  run f 4
)",
                         fifo(1),
                         R"(A: cpu0 0-2 run, create@2, runnable 2-6 after B, cpu0 6-9 run, end@9
B: blocked 0-2 by A, cpu0 2-6 run, end@6
)"},
                    Case{"TakesTheCpuOfTheLowest", R"(
thread A priority=1
  run f 8
thread B priority=2
  run f 8
thread C priority=3
  sleep 2
  run f 3
)",
                         fifo(2),
                         R"(A: cpu0 0-2 cut, runnable 2-5 after C, cpu0 5-11 run, end@11
B: cpu1 0-8 run, end@8
C: sleep@0, sleep 0~2, cpu0 2-5 run, end@5
)"},
                    Case{"WhoYieldsGoesBehindItsEquals", R"(
thread A
  run f 1
  yield
  run f 1
thread B
  run f 2
)",
                         fifo(1),
                         R"(A: cpu0 0-1 run, yield@1, runnable 1-3 after B, cpu0 3-4 run, end@4
B: runnable 0-1 after A, cpu0 1-3 run, end@3
)"},
                    Case{"BoundThreadsWaitForTheirCpu", R"(
thread A cpu=0
  run f 3
thread B cpu=0
  run f 2
thread C
  run f 4
)",
                         fifo(2), R"(A: cpu0 0-3 run, end@3
B: runnable 0-3 after A, cpu0 3-5 run, end@5
C: cpu1 0-4 run, end@4
)"}),
    name_of);

Machine handing_over(Machine machine, HandOff hand_off) {
  machine.hand_off = hand_off;
  return machine;
}

TEST(SchedulerCosts, AreTheRecordingsWhereTheMachineSaysNothing) {
  Recording recording = *read_program(
      "thread A cpu=0\n  run f 2\n  post S\nthread B cpu=1\n  wait S\n  run f 1\n", "test");
  recording.run.costs.wake_up = std::chrono::milliseconds(3);
  const auto total = [&](const Machine& machine) {
    return simulate(recording, machine)->end.total;
  };
  Machine machine = fifo(2);
  EXPECT_EQ(total(machine), std::chrono::milliseconds(6));
  machine.wake_up = Nanoseconds{};
  EXPECT_EQ(total(machine), std::chrono::milliseconds(3));
}

// A lets the lock go and takes it again at once.
constexpr const char* lock_taken_again = R"(
thread A
  lock M
  run f 2
  unlock M
  lock M
  run f 2
  unlock M
thread B
  run f 1
  lock M
  run f 1
  unlock M
)";

INSTANTIATE_TEST_SUITE_P(
    HandOff, SchedulerExample,
    testing::Values(
        Case{
            "Ordered", lock_taken_again, handing_over(fifo(2), HandOff::ordered),
            R"(A: lock@0, cpu0 0-2 run, unlock@2, lock@2, blocked 2-3 by B, cpu0 3-5 run, unlock@5, end@5
B: cpu1 0-1 run, lock@1, blocked 1-2 by A, cpu1 2-3 run, unlock@3, end@3
)"},
        Case{"Barging", lock_taken_again, handing_over(fifo(2), HandOff::barging),
             R"(A: lock@0, cpu0 0-2 run, unlock@2, lock@2, cpu0 2-4 run, unlock@4, end@4
B: cpu1 0-1 run, lock@1, blocked 1-2 by A, lock@2, blocked 2-4 by A, lock@4, cpu1 4-5 run, unlock@5, end@5
)"},
        // As many wake as there are posts; who comes first goes on.
        Case{"SemaphoresToo", R"(
thread A
  run f 1
  post S
  wait S
  run f 2
  post S
thread B
  wait S
  run f 1
)",
             handing_over(fifo(2), HandOff::barging),
             R"(A: cpu0 0-1 run, post@1, wait@1, cpu0 1-3 run, post@3, end@3
B: wait@0, blocked 0-1 by A, wait@1, blocked 1-3 by A, wait@3, cpu1 3-4 run, end@4
)"},
        Case{"ADeviceServesOneAtATime", R"(
thread A
  io disk 3
thread B
  io disk 2
)",
             fifo(2), R"(A: io@0, io 0~3, end@3
B: io@0, blocked 0-3 by A, io 3~5, end@5
)"},
        Case{"OrAllAtOnce", R"(
thread A
  io disk 3
thread B
  io disk 2
)",
             [] {
               Machine machine = fifo(2);
               machine.parallel_devices = true;
               return machine;
             }(),
             R"(A: io@0, io 0~3, end@3
B: io@0, io 0~2, end@2
)"}),
    name_of);

Machine linux_fair(std::uint32_t cpus, int tick_ms = 4) {
  Machine machine = on_cpus(SchedulerKind::linux_fair, cpus);
  machine.tick = std::chrono::milliseconds(tick_ms);
  return machine;
}

Machine with_second(Machine machine, ThreadSettings settings) {
  machine.threads = {{}, settings};
  return machine;
}

INSTANTIATE_TEST_SUITE_P(
    Linux, SchedulerExample,
    testing::Values(
        // Slices of 0.7 ms end at ticks of 4 ms.
        Case{
            "TakesTurnsAtTicks", R"(
thread A
  run f 10
thread B
  run f 10
)",
            linux_fair(1),
            R"(A: cpu0 0-4 cut, runnable 4-8 after B, cpu0 8-12 cut, runnable 12-16 after B, cpu0 16-18 run, end@18
B: runnable 0-4 after A, cpu0 4-8 cut, runnable 8-12 after A, cpu0 12-16 cut, runnable 16-18 after A, cpu0 18-20 run, end@20
)"},
        // Weights 1024 and 335: B's 4 ms count as 12.2 ms. At 12 and 16 ms A (8 and 12) is before the
        // average (9.0 and 12.1), B after it.
        Case{"NiceValuesWeigh", R"(
thread A
  run f 16
thread B
  run f 8
)",
             with_second(linux_fair(1), {.nice = 5}),
             R"(A: cpu0 0-4 cut, runnable 4-8 after B, cpu0 8-20 run, end@20
B: runnable 0-4 after A, cpu0 4-8 cut, runnable 8-20 after A, cpu0 20-24 run, end@24
)"},
        // S has no lag, H has used up its slice, and their deadlines are equal: who wakes goes first.
        Case{"WhoWakesPreempts", R"(
thread S
  sleep 2
  run f 1
thread H
  run f 10
)",
             linux_fair(1), R"(S: sleep@0, sleep 0~2, cpu0 2-3 run, end@3
H: cpu0 0-2 cut, runnable 2-3 after S, cpu0 3-11 run, end@11
)"},
        // S wakes 0.5 ms after H got its slice of 0.7 ms anew, at the tick.
        Case{"WhoWakesDoesNotCutASliceShort", R"(
thread S
  sleep 4500us
  run f 1
thread H
  run f 10
)",
             linux_fair(1),
             R"(S: sleep@0, sleep 0~4.5, runnable 4.5-8 after H, cpu0 8-9 run, end@9
H: cpu0 0-8 cut, runnable 8-9 after S, cpu0 9-11 run, end@11
)"},
        // C waits on CPU 0 with A. CPU 1 counts as half used when B starts, which leaves B for used half as
        // much every 33.6 ms: it has room to spare (more than 15%) until its look at 64 ms, which comes at 80 ms,
        // for by chance CPU 1's tick comes before the count then. Moving one of them would only turn the imbalance
        // round, and more so on the second look, at 96 ms, late by the same chance; at 112 ms it is done all the same.
        // A has just had its turn, so B keeps the CPU until 128 ms.
        Case{
            "BalancesTheQueues", R"(
thread A
  run f 80
thread B
  run f 160
thread C
  run f 100
)",
            linux_fair(2, 16),
            R"(A: cpu0 0-16 cut, runnable 16-32 after C, cpu0 32-48 cut, runnable 48-64 after C, cpu0 64-80 cut, runnable 80-96 after C, cpu0 96-112 cut, runnable 112-128 after B, cpu1 128-144 run, end@144
B: cpu1 0-128 cut, runnable 128-144 after A, cpu1 144-176 run, end@176
C: runnable 0-16 after A, cpu0 16-32 cut, runnable 32-48 after A, cpu0 48-64 cut, runnable 64-80 after A, cpu0 80-96 cut, runnable 96-112 after A, cpu0 112-164 run, end@164
)"},
        // S wakes between ticks and finds A, whose slice was over at 8.7 ms. Virtual times at 10 ms: A 6,
        // B 4, S 5; B has the earliest deadline.
        Case{"WhoWakesEndsASliceThatIsUsedUp", R"(
thread S
  sleep 10
  run f 1
thread A
  run f 9
thread B
  run f 9
)",
             linux_fair(1),
             R"(S: sleep@0, sleep 0~10, runnable 10-12 after B, cpu0 12-13 run, end@13
A: cpu0 0-4 cut, runnable 4-8 after B, cpu0 8-10 cut, runnable 10-13 after S, cpu0 13-16 run, end@16
B: runnable 0-4 after A, cpu0 4-8 cut, runnable 8-10 after A, cpu0 10-12 cut, runnable 12-16 after A, cpu0 16-19 run, end@19
)"},
        // C starts on the idle CPU. Its first slice, half of 1.4 ms, is over when A is back there.
        Case{"StartsOnAnIdleCpuAndWakesOnItsLast", R"(
thread A
  run f 1
  sleep 2
  run f 1
thread B
  run f 2
  create C
  run f 4
thread C
  run f 3
)",
             linux_fair(2),
             R"(A: cpu0 0-1 run, sleep@1, sleep 1~3, cpu0 3-4 run, end@4
B: cpu1 0-2 run, create@2, cpu1 2-6 run, end@6
C: blocked 0-2 by B, cpu0 2-3 cut, runnable 3-4 after A, cpu0 4-6 run, end@6
)"},
        Case{"RealTimeGoesFirst", R"(
thread A
  run f 10
thread B priority=1
  sleep 1
  run f 20
)",
             linux_fair(1), R"(A: cpu0 0-1 cut, runnable 1-21 after B, cpu0 21-30 run, end@30
B: sleep@0, sleep 0~1, cpu0 1-21 run, end@21
)"},
        Case{"RoundRobinTakesTurns", R"(
thread A priority=1
  run f 150
thread B priority=1
  run f 150
)",
             [] {
               Machine machine = linux_fair(1);
               machine.threads = {{.round_robin = true}, {.round_robin = true}};
               return machine;
             }(),
             R"(A: cpu0 0-100 cut, runnable 100-200 after B, cpu0 200-250 run, end@250
B: runnable 0-100 after A, cpu0 100-200 cut, runnable 200-250 after A, cpu0 250-300 run, end@300
)"}),
    name_of);

// Neither leaves its CPU for the other, whoever has the lock.
constexpr const char* lock_spun_for = R"(
thread A
  lock M spinning
  run f 6
  unlock M
  run f 1
thread B
  run f 1
  lock M spinning
  run f 1
  unlock M
)";

INSTANTIATE_TEST_SUITE_P(
    SpinLock, SchedulerExample,
    testing::Values(
        // B's turn is over at the tick; it tries again in its next.
        Case{
            "BurnsATurn", lock_spun_for, linux_fair(1),
            R"(A: lock@0, cpu0 0-4 cut, runnable 4-8 after B, cpu0 8-10 run, unlock@10, cpu0 10-11 run, end@11
B: runnable 0-4 after A, cpu0 4-5 run, lock@5, cpu0 5-8 spins, runnable 8-11 after A, lock@11, cpu0 11-12 run, unlock@12, end@12
)"},
        Case{"HasItAtOnce", lock_spun_for, linux_fair(2),
             R"(A: lock@0, cpu0 0-6 run, unlock@6, cpu0 6-7 run, end@7
B: cpu1 0-1 run, lock@1, cpu1 1-6 spins, cpu1 6-7 run, unlock@7, end@7
)"},
        // B came first, but C has the CPU.
        Case{"GoesToWhoeverHasACpu", R"(
thread A cpu=0
  lock M spinning
  run f 7
  unlock M
thread B cpu=1
  run f 1
  lock M spinning
  run f 1
  unlock M
thread C cpu=1
  run f 2
  lock M spinning
  run f 1
  unlock M
)",
             linux_fair(2),
             R"(A: lock@0, cpu0 0-7 run, unlock@7, end@7
B: cpu1 0-1 run, lock@1, cpu1 1-4 spins, runnable 4-8 after C, lock@8, cpu1 8-9 run, unlock@9, end@9
C: runnable 0-4 after B, cpu1 4-6 run, lock@6, cpu1 6-7 spins, cpu1 7-8 run, unlock@8, end@8
)"},
        Case{
            "BurnsTheSliceOfLinux22", R"(
thread A
  lock M spinning
  run f 300
  unlock M
thread B
  run f 10
  lock M spinning
)",
            on_cpus(SchedulerKind::linux_2_2, 1),
            R"(A: lock@0, cpu0 0-210 cut, runnable 210-630 after B, cpu0 630-720 run, unlock@720, end@720
B: runnable 0-210 after A, cpu0 210-220 run, lock@220, cpu0 220-630 spins, runnable 630-720 after A, lock@720, end@720
)"},
        Case{
            "BurnsTheSliceOfSolaris", R"(
thread A
  lock M spinning
  run f 200
  unlock M
thread B
  run f 10
  lock M spinning
)",
            on_cpus(SchedulerKind::solaris, 1),
            R"(A: lock@0, cpu0 0-120 cut, runnable 120-240 after B, cpu0 240-320 run, unlock@320, end@320
B: runnable 0-120 after A, cpu0 120-130 run, lock@130, cpu0 130-240 spins, runnable 240-320 after A, lock@320, end@320
)"},
        // Without slices it would keep its CPU for ever.
        Case{"LeavesTheCpuUnderFifo", R"(
thread A
  lock M spinning
  sleep 2
  run f 1
  unlock M
thread B
  run f 1
  lock M spinning
)",
             fifo(1),
             R"(A: lock@0, sleep@0, sleep 0~2, cpu0 2-3 run, unlock@3, end@3
B: cpu0 0-1 run, lock@1, blocked 1-3 by A, end@3
)"},
        Case{"StandsStillWhereNobodyLetsGo", R"(
thread A
  lock M spinning
  wait S
thread B
  lock M spinning
thread C
  lock M spinning
)",
             linux_fair(1),
             R"(A: lock@0, wait@0
B: lock@0, cpu0 0-4 spins
C: runnable 0-4 after B, lock@4
deadlock at 4: A wait since 0 B lock since 4 C lock since 4
)"}),
    name_of);

Machine with(Machine machine, void (*change)(Machine&)) {
  change(machine);
  return machine;
}

INSTANTIATE_TEST_SUITE_P(
    Machine, SchedulerExample,
    testing::Values(
        Case{"CpusHaveSpeeds", R"(
thread A
  run f 4
thread B
  run f 4
)",
             with(fifo(2),
                  [](Machine& machine) {
                    machine.speeds = {2000, 500};
                  }),
             R"(A: cpu0 0-2 run, end@2
B: cpu1 0-8 run, end@8
)"},
        Case{"TakingUpAnotherThreadCosts", R"(
thread A
  run f 2
thread B
  run f 2
)",
             with(fifo(1),
                  [](Machine& machine) { machine.switch_cost = std::chrono::milliseconds(1); }),
             R"(A: cpu0 0-2 run, end@2
B: runnable 0-2 after A, cpu0 2-5 run, end@5
)"},
        Case{"TakingUpOnAnotherCpuCosts", R"(
thread A priority=1
  run f 4
thread B priority=1
  run f 2
thread C priority=2 cpu=0
  sleep 1
  run f 5
)",
             with(fifo(2),
                  [](Machine& machine) { machine.migration_cost = std::chrono::milliseconds(1); }),
             R"(A: cpu0 0-1 cut, runnable 1-2 after B, cpu1 2-6 run, end@6
B: cpu1 0-2 run, end@2
C: sleep@0, sleep 0~1, cpu0 1-6 run, end@6
)"},
        Case{
            "AnIdleCpuWakesUp", R"(
thread A cpu=0
  run f 2
  post S
  run f 1
thread B cpu=1
  wait S
  run f 1
)",
            with(fifo(2), [](Machine& machine) { machine.wake_up = std::chrono::milliseconds(3); }),
            R"(A: cpu0 0-2 run, post@2, cpu0 2-3 run, end@3
B: wait@0, blocked 0-5 by A, cpu1 5-6 run, end@6
)"},
        // A CPU that computes need not, nor does one at whose thread the signal has already come.
        Case{
            "OnlyAnIdleCpuWakesUp", R"(
thread A cpu=0
  run f 2
  post S
  post S
thread B cpu=1
  wait S
  run f 1
thread C cpu=1
  run f 3
  wait S
  run f 1
)",
            with(fifo(2), [](Machine& machine) { machine.wake_up = std::chrono::milliseconds(3); }),
            R"(A: cpu0 0-2 run, post@2, post@2, end@2
B: wait@0, blocked 0-2 by A, runnable 2-4 after C, cpu1 4-5 run, end@5
C: cpu1 0-3 run, wait@3, cpu1 3-4 run, end@4
)"},
        Case{"CallsCost", R"(
thread A
  run f 1
  post S
  run f 1
)",
             with(fifo(1),
                  [](Machine& machine) {
                    machine.primitive_cost[static_cast<std::size_t>(EventKind::semaphore_post)] =
                        std::chrono::milliseconds(2);
                  }),
             R"(A: cpu0 0-1 run, cpu0 1-3 post, cpu0 3-4 run, end@4
)"},
        // Paper VII section 2: whoever waits elsewhere sees the signal after the latency,
        Case{
            "SignalsTakeTheLatency", R"(
thread A cpu=0
  run f 2
  post S
  run f 1
thread B cpu=1
  wait S
  run f 1
)",
            with(fifo(2), [](Machine& machine) { machine.latency = std::chrono::milliseconds(3); }),
            R"(A: cpu0 0-2 run, post@2, cpu0 2-3 run, end@3
B: wait@0, blocked 0-5 by A, cpu1 5-6 run, end@6
)"},
        // whoever comes meanwhile for the rest of it,
        Case{
            "SignalsAreUnderWay", R"(
thread A cpu=0
  run f 2
  post S
thread B cpu=1
  run f 4
  wait S
  run f 1
)",
            with(fifo(2), [](Machine& machine) { machine.latency = std::chrono::milliseconds(3); }),
            R"(A: cpu0 0-2 run, post@2, end@2
B: cpu1 0-4 run, wait@4, blocked 4-5 by A, cpu1 5-6 run, end@6
)"},
        // and on the same CPU everyone at once.
        Case{
            "SignalsAreSeenAtOnceWhereTheyAreMade", R"(
thread A cpu=0
  run f 2
  post S
  run f 1
thread B cpu=0
  wait S
  run f 1
)",
            with(fifo(2), [](Machine& machine) { machine.latency = std::chrono::milliseconds(3); }),
            R"(A: cpu0 0-2 run, post@2, cpu0 2-3 run, end@3
B: runnable 0-3 after A, wait@3, cpu0 3-4 run, end@4
)"},
        Case{
            "TheLastAtABarrierSeesTheOthersArrive", R"(
thread A cpu=0
  run f 2
  barrier B 2
  run f 1
thread B cpu=1
  run f 3
  barrier B 2
  run f 1
)",
            with(fifo(2), [](Machine& machine) { machine.latency = std::chrono::milliseconds(3); }),
            R"(A: cpu0 0-2 run, barrier@2, blocked 2-6 by B, cpu0 6-7 run, end@7
B: cpu1 0-3 run, barrier@3, blocked 3-5 by A, cpu1 5-6 run, end@6
)"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Linux22, SchedulerExample,
    testing::Values(
        // At 420 ms both slices are used up and both get new ones; who has the CPU keeps it.
        Case{"SlicesOf210Milliseconds", R"(
thread A
  run f 300
thread B
  run f 300
)",
             on_cpus(SchedulerKind::linux_2_2, 1),
             R"(A: cpu0 0-210 cut, runnable 210-510 after B, cpu0 510-600 run, end@600
B: runnable 0-210 after A, cpu0 210-510 run, end@510
)"},
        // Goodness at 100 ms: S 20 + 20 + 15, H 10 + 20 + 15.
        Case{"WhoWakesExceedsInGoodness", R"(
thread S
  sleep 100
  run f 10
thread H
  run f 150
)",
             on_cpus(SchedulerKind::linux_2_2, 1),
             R"(S: sleep@0, sleep 0~100, cpu0 100-110 run, end@110
H: cpu0 0-100 cut, runnable 100-110 after S, cpu0 110-160 run, end@160
)"},
        // A has 10 ticks left besides the running one: 5 for each, that is 60 ms.
        Case{
            "ANewThreadSharesTheSlice", R"(
thread A
  run f 105
  create B
  run f 100
thread B
  run f 50
)",
            on_cpus(SchedulerKind::linux_2_2, 1),
            R"(A: cpu0 0-105 run, create@105, cpu0 105-165 cut, runnable 165-215 after B, cpu0 215-255 run, end@255
B: blocked 0-105 by A, runnable 105-165 after A, cpu0 165-215 run, end@215
)"},
        Case{
            "LocksHaveOrderedQueues", lock_taken_again, on_cpus(SchedulerKind::linux_2_2, 2),
            R"(A: lock@0, cpu0 0-2 run, unlock@2, lock@2, blocked 2-3 by B, cpu0 3-5 run, unlock@5, end@5
B: cpu1 0-1 run, lock@1, blocked 1-2 by A, cpu1 2-3 run, unlock@3, end@3
)"}),
    name_of);

Machine solaris(std::uint32_t cpus, std::uint32_t lwps = 0) {
  Machine machine = on_cpus(SchedulerKind::solaris, cpus);
  machine.lwps = lwps;
  return machine;
}

INSTANTIATE_TEST_SUITE_P(
    Solaris, SchedulerExample,
    testing::Values(
        // Levels 29, 19 and 9 have slices of 120, 160 and 200 ms.
        Case{
            "LevelsFallAndSlicesGrow", R"(
thread A
  run f 300
thread B
  run f 300
)",
            solaris(1),
            R"(A: cpu0 0-120 cut, runnable 120-240 after B, cpu0 240-400 cut, runnable 400-560 after B, cpu0 560-580 run, end@580
B: runnable 0-120 after A, cpu0 120-240 cut, runnable 240-400 after A, cpu0 400-560 cut, runnable 560-580 after A, cpu0 580-600 run, end@600
)"},
        Case{"AThreadKeepsItsLwpUntilItWaits", R"(
thread A
  run f 300
  wait S
thread B
  run f 5
  post S
)",
             solaris(2, 1),
             R"(A: cpu0 0-300 run, wait@300, blocked 300-305 by B, wait@305, end@305
B: runnable 0-300 after A, cpu0 300-305 run, post@305, end@305
)"},
        // From level 29 to 52.
        Case{"WhoComesBackFromTheKernelGoesUp", R"(
thread S
  sleep 10
  run f 5
thread H
  run f 50
)",
             solaris(1), R"(S: sleep@0, sleep 0~10, cpu0 10-15 run, end@15
H: cpu0 0-10 cut, runnable 10-15 after S, cpu0 15-55 run, end@55
)"},
        Case{"AFurtherLwpWhenAllAreInTheKernel", R"(
thread A
  io disk 10
  run f 5
thread B
  run f 8
)",
             solaris(1, 1), R"(A: io@0, io 0~10, cpu0 10-15 run, end@15
B: cpu0 0-8 run, end@8
)"},
        Case{"BoundThreadsAreDear", R"(
thread A
  run f 1
  create B
  run f 1
thread B
  lock M
  run f 1
)",
             [] {
               Machine machine = solaris(2);
               machine.primitive_cost[static_cast<std::size_t>(EventKind::thread_create)] =
                   std::chrono::milliseconds(1);
               machine.primitive_cost[static_cast<std::size_t>(EventKind::mutex_lock)] =
                   std::chrono::milliseconds(1);
               machine.threads = {{}, {.bound_to_lwp = true}};
               return machine;
             }(),
             R"(A: cpu0 0-1 run, cpu0 1-7.7 create, cpu0 7.7-8.7 run, end@8.7
B: blocked 0-7.7 by A, cpu1 7.7-13.6 lock, cpu1 13.6-14.6 run, end@14.6
)"}),
    name_of);

// Ping and Pong make the CPUs' loads waver around balance: looks that are in vain add up only where no
// other comes between. The kernel moves such threads a few times in three seconds.
TEST(LinuxFair, ForgetsLooksInVainOnceItFindsNothingToEvenOut) {
  std::string ping = "thread Ping\n";
  std::string pong = "thread Pong\n";
  for (int round = 0; round < 6000; ++round) {
    ping += "  run f 200us\n  post There\n  wait Back\n";
    pong += "  wait There\n  run f 100us\n  post Back\n";
  }
  const Recording recording =
      *read_program(ping + pong + "thread A\n  run f 2s\nthread B\n  run f 2s\n", "test");
  const auto run = simulate(recording, on_cpus(SchedulerKind::linux_fair, 2));
  ASSERT_TRUE(run);
  EXPECT_LT(run->end.migrations, 20);
}

}  // namespace
}  // namespace longpole::simulation
