// Small programs under each scheduler, with the intervals that its page promises.
#include <gmock/gmock.h>

#include "machine_table.h"
#include "simulation/simulator.h"

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
        // C waits on CPU 0 with A. At 32 ms moving it would only turn the imbalance round; at 64 ms
        // it is moved all the same. At 72 ms CPU 0 falls idle and takes B, which waits longest.
        Case{
            "BalancesTheQueues", R"(
thread A
  run f 40
thread B
  run f 80
thread C
  run f 60
)",
            linux_fair(2, 16),
            R"(A: cpu0 0-16 cut, runnable 16-32 after C, cpu0 32-48 cut, runnable 48-64 after C, cpu0 64-72 run, end@72
B: cpu1 0-64 cut, runnable 64-72 after A, cpu0 72-88 run, end@88
C: runnable 0-16 after A, cpu0 16-32 cut, runnable 32-48 after A, cpu0 48-64 cut, cpu1 64-92 run, end@92
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

}  // namespace
}  // namespace longpole::simulation
