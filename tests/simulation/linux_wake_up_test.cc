// Where a thread of `linux` wakes up whose last CPU is busy while another one is idle, and where a new one starts.
#include <chrono>

#include "example.h"

namespace longpole::simulation {
namespace {

class WakeUp : public ExampleTest {};

TEST_P(WakeUp, RunsAsWritten) {
  expect_it_runs_as_written();
}

// Where it takes time to wake up a CPU, as on a real machine.
Machine real_with(std::vector<ThreadSettings> threads) {
  Machine machine = linux_fair(2);
  machine.wake_up = std::chrono::nanoseconds(1);
  machine.threads = std::move(threads);
  return machine;
}

INSTANTIATE_TEST_SUITE_P(
    Linux, WakeUp,
    testing::Values(
        // CPU 0 evens out each 28 ms. Of late, it was used 0.88 and CPU 1 0.86 at 28 ms: 2 · (1 - (1.17 · 0.87)²) is nothing, so
        // W looks at no other CPU. At 112 ms it is 0.98 and 0.14: 2 · (1 - (1.17 · 0.56)²) = 1.1, so it looks at one.
        Example{
            "LooksForAnIdleCpuTheLessTheMoreCpusAreUsed", R"(
thread A
  run f 160
thread B
  run f 29
  sleep 120
  run f 4
thread W
  run f 100us
  sleep 25
  run f 1
  sleep 90
  run f 1
)",
            real_with({}),
            R"(A: cpu0 0-4 cut, runnable 4-4.1 after W, cpu0 4.1-29.1 cut, runnable 29.1-30.1 after W, cpu0 30.1-161.1 run, end@161.1
B: cpu1 0-29 run, sleep@29, sleep 29~149, cpu1 149-153 run, end@153
W: runnable 0-4 after A, cpu0 4-4.1 run, sleep@4.1, sleep 4.1~29.1, cpu0 29.1-30.1 run, sleep@30.1, sleep 30.1~120.1, cpu1 120.1-121.1 run, end@121.1
)"},
        // Nobody has evened out before 24.1 ms, and before the run both CPUs were idle.
        Example{"LooksAsFarAsBeforeTheRunUntilACpuEvensOut", R"(
thread A
  run f 40
thread B
  run f 24
thread W
  run f 100us
  sleep 20
  run f 1
)",
                real_with({}),
                R"(A: cpu0 0-4 cut, runnable 4-4.1 after W, cpu0 4.1-40.1 run, end@40.1
B: cpu1 0-24 run, end@24
W: runnable 0-4 after A, cpu0 4-4.1 run, sleep@4.1, sleep 4.1~24.1, cpu1 24.1-25.1 run, end@25.1
)"},
        // As if there were none idle at 68 ms, but W was on CPU 1 before A woke it on CPU 0.
        Example{"TakesTheCpuBeforeTheLastWhereThatIsIdle", R"(
thread A
  run f 60
  post S
  run f 20
thread W
  run f 100us
  wait S
  run f 1
  sleep 8
  run f 1
thread B
  run f 21
  sleep 20
thread C
  run f 21
  sleep 20
thread D
  run f 21
  sleep 20
)",
                real_with({{.cpu = 0}, {}, {.cpu = 1}, {.cpu = 1}, {.cpu = 1}}),
                R"(A: cpu0 0-60 run, post@60, runnable 60-61 after W, cpu0 61-81 run, end@81
W: cpu1 0-0.1 run, wait@0.1, blocked 0.1-60 by A, wait@60, cpu0 60-61 run, sleep@61, sleep 61~69, cpu1 69-70 run, end@70
B: runnable 0-0.1 after W, cpu1 0.1-4 cut, runnable 4-12 after D, cpu1 12-16 cut, runnable 16-24 after D, cpu1 24-28 cut, runnable 28-36 after D, cpu1 36-40 cut, runnable 40-48 after D, cpu1 48-52 cut, runnable 52-60 after D, cpu1 60-61.1 run, sleep@61.1, sleep 61.1~81.1, end@81.1
C: runnable 0-4 after B, cpu1 4-8 cut, runnable 8-16 after B, cpu1 16-20 cut, runnable 20-28 after B, cpu1 28-32 cut, runnable 32-40 after B, cpu1 40-44 cut, runnable 44-52 after B, cpu1 52-56 cut, runnable 56-61.1 after B, cpu1 61.1-62.1 run, sleep@62.1, sleep 62.1~82.1, end@82.1
D: runnable 0-8 after C, cpu1 8-12 cut, runnable 12-20 after C, cpu1 20-24 cut, runnable 24-32 after C, cpu1 32-36 cut, runnable 36-44 after C, cpu1 44-48 cut, runnable 48-56 after C, cpu1 56-60 cut, runnable 60-62.1 after C, cpu1 62.1-63.1 run, sleep@63.1, sleep 63.1~83.1, end@83.1
)"}),
    name_of_example);

// Where nothing has costs, each idle CPU is found.
INSTANTIATE_TEST_SUITE_P(InProgramFiles, WakeUp,
                         testing::Values(Example{
                             "TakesAnyIdleCpu", R"(
thread A
  run f 40
thread B
  run f 24
  sleep 10
thread W
  run f 100us
  sleep 20
  run f 1
)",
                             linux_fair(2),
                             R"(A: cpu0 0-4 cut, runnable 4-4.1 after W, cpu0 4.1-40.1 run, end@40.1
B: cpu1 0-24 run, sleep@24, sleep 24~34, end@34
W: runnable 0-4 after A, cpu0 4-4.1 run, sleep@4.1, sleep 4.1~24.1, cpu1 24.1-25.1 run, end@25.1
)"}),
                         name_of_example);

INSTANTIATE_TEST_SUITE_P(
    Starts, WakeUp,
    testing::Values(
        // At 100 ms CPU 0 was used 0.94 of late, and CPU 1 0.17.
        Example{"ANewThreadStartsWhereThereIsRoom", R"(
thread A
  run f 100
  create N
  run f 10
thread B
  run f 1us
  sleep 95
  run f 20
thread N
  run f 5
)",
                real_with({}), R"(A: cpu0 0-100 run, create@100, cpu0 100-110 run, end@110
B: cpu1 0-0.001 run, sleep@0.001, sleep 0.001~95.001, cpu1 95.001-100 cut, runnable 100-104 after N, cpu1 104-108 cut, runnable 108-109 after N, cpu1 109-120.001 run, end@120.001
N: blocked 0-100 by A, cpu1 100-104 cut, runnable 104-108 after B, cpu1 108-109 run, end@109
)"},
        // Then both were used, and are as heavy.
        Example{
            "ElseWhereItsCreatorIs", R"(
thread A
  run f 100
  create N
  run f 10
thread B
  run f 120
thread N
  run f 5
)",
            real_with({}),
            R"(A: cpu0 0-100 run, create@100, runnable 100-104 after N, cpu0 104-108 cut, runnable 108-109 after N, cpu0 109-115 run, end@115
B: cpu1 0-120 run, end@120
N: blocked 0-100 by A, cpu0 100-104 cut, runnable 104-108 after A, cpu0 108-109 run, end@109
)"},
        // Both have two, of which A is heavy.
        Example{"UnlessThatIsHeavier", R"(
thread A
  run f 2
  create N
  run f 2
thread B
  run f 4
thread C
  run f 2
thread D
  run f 4
thread N
  run f 2
)",
                real_with({{.nice = -10}}), R"(A: cpu0 0-2 run, create@2, cpu0 2-4 run, end@4
B: cpu1 0-2 cut, runnable 2-6 after N, cpu1 6-8 run, end@8
C: runnable 0-4 after A, cpu0 4-6 run, end@6
D: runnable 0-2 after B, cpu1 2-4 cut, runnable 4-8 after B, cpu1 8-10 run, end@10
N: blocked 0-2 by A, runnable 2-4 after D, cpu1 4-6 run, end@6
)"}),
    name_of_example);

}  // namespace
}  // namespace longpole::simulation
