// Small programs under the schedulers of Papers I to III and `fifo`, with the intervals that each one's page promises.
#include "example.h"
#include "trace/program_text.h"

namespace longpole::simulation {
namespace {

class SchedulerExample : public ExampleTest {};

TEST_P(SchedulerExample, RunsAsWritten) {
  expect_it_runs_as_written();
}

INSTANTIATE_TEST_SUITE_P(
    Fifo, SchedulerExample,
    testing::Values(
        Example{"OneAfterTheOther", R"(
thread A
  run f 3
thread B
  run f 2
)",
                fifo(1), R"(A: cpu0 0-3 run, end@3
B: runnable 0-3 after A, cpu0 3-5 run, end@5
)"},
        Example{"HigherPriorityTakesTheCpuAtOnce", R"(
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
        Example{"TakesTheCpuOfTheLowest", R"(
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
        // W is still in its call: H, let go first, has L's CPU at once.
        Example{"TakesTheCpusOfTheTwoLowest", R"(
thread W
  run f 10
  barrier B 3
  run f 10
thread L
  run f 20
thread H priority=1
  barrier B 3
  run f 10
thread I priority=1
  barrier B 3
  run f 30
)",
                fifo(2),
                R"(W: cpu0 0-10 run, barrier@10, runnable 10-20 after H, cpu1 20-30 run, end@30
L: cpu1 0-10 cut, runnable 10-30 after W, cpu1 30-40 run, end@40
H: barrier@0, blocked 0-10 by W, cpu1 10-20 run, end@20
I: barrier@0, blocked 0-10 by W, cpu0 10-40 run, end@40
)"},
        Example{"WhoYieldsGoesBehindItsEquals", R"(
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
        Example{"BoundThreadsWaitForTheirCpu", R"(
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
    name_of_example);

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

Machine waking_up(Machine machine, std::int64_t milliseconds) {
  machine.wake_up = std::chrono::milliseconds(milliseconds);
  return machine;
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

constexpr const char* lock_taken_thrice = R"(
thread A
  lock M
  run f 2
  unlock M
  lock M
  run f 1
  unlock M
  lock M
  run f 2
  unlock M
thread B
  run f 1
  lock M
  run f 1
  unlock M
thread C
  run f 1
  lock M
  run f 1
  unlock M
)";

INSTANTIATE_TEST_SUITE_P(
    HandOff, SchedulerExample,
    testing::Values(
        Example{
            "Ordered", lock_taken_again, handing_over(fifo(2), HandOff::ordered),
            R"(A: lock@0, cpu0 0-2 run, unlock@2, lock@2, blocked 2-3 by B, cpu0 3-5 run, unlock@5, end@5
B: cpu1 0-1 run, lock@1, blocked 1-2 by A, cpu1 2-3 run, unlock@3, end@3
)"},
        Example{"Barging", lock_taken_again, handing_over(fifo(2), HandOff::barging),
                R"(A: lock@0, cpu0 0-2 run, unlock@2, lock@2, cpu0 2-4 run, unlock@4, end@4
B: cpu1 0-1 run, lock@1, blocked 1-2 by A, lock@2, blocked 2-4 by A, lock@4, cpu1 4-5 run, unlock@5, end@5
)"},
        // B is on its way from 2 to 4. Who takes the lock past it at 2 and at 3 does not know of C, so nobody is
        // woken at 3; B, who finds it taken, says so again.
        Example{
            "FutexesForgetWhoSleeps", lock_taken_thrice,
            handing_over(waking_up(fifo(3), 2), HandOff::futex),
            R"(A: lock@0, cpu0 0-2 run, unlock@2, lock@2, cpu0 2-3 run, unlock@3, lock@3, cpu0 3-5 run, unlock@5, end@5
B: cpu1 0-1 run, lock@1, blocked 1-4 by A, lock@4, blocked 4-10 by C, lock@10, cpu1 10-11 run, unlock@11, end@11
C: cpu2 0-1 run, lock@1, blocked 1-7 by A, lock@7, cpu2 7-8 run, unlock@8, end@8
)"},
        Example{
            "BargingForgetsNobody", lock_taken_thrice,
            handing_over(waking_up(fifo(3), 2), HandOff::barging),
            R"(A: lock@0, cpu0 0-2 run, unlock@2, lock@2, cpu0 2-3 run, unlock@3, lock@3, cpu0 3-5 run, unlock@5, end@5
B: cpu1 0-1 run, lock@1, blocked 1-4 by A, lock@4, blocked 4-7 by A, lock@7, cpu1 7-8 run, unlock@8, end@8
C: cpu2 0-1 run, lock@1, blocked 1-5 by A, lock@5, cpu2 5-6 run, unlock@6, end@6
)"},
        // W has M again at 30, while X is on its way from 20 to 40. D, in between, forgot B; W takes it that there is somebody.
        Example{
            "WhoComesBackFromAConditionExpectsSleepers", R"(
thread W
  lock M
  cwait C M
  run f 5
  unlock M
thread A
  run f 10
  lock M
  signal C
  run f 10
  unlock M
thread X
  run f 12
  lock M
  run f 5
  unlock M
thread B
  run f 13
  lock M
  run f 5
  unlock M
thread D
  run f 21
  lock M
  run f 2
  unlock M
)",
            handing_over(waking_up(fifo(5), 20), HandOff::futex),
            R"(W: lock@0, cwait@0, blocked 0-30 by A, cwait@30, cpu0 30-35 run, unlock@35, end@35
A: cpu1 0-10 run, lock@10, signal@10, cpu1 10-20 run, unlock@20, end@20
X: cpu2 0-12 run, lock@12, blocked 12-40 by A, lock@40, cpu2 40-45 run, unlock@45, end@45
B: cpu3 0-13 run, lock@13, blocked 13-55 by W, lock@55, cpu3 55-60 run, unlock@60, end@60
D: cpu4 0-21 run, lock@21, cpu4 21-23 run, unlock@23, end@23
)"},
        // As many wake as there are posts; who comes first goes on.
        Example{"SemaphoresToo", R"(
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
        Example{"ADeviceServesOneAtATime", R"(
thread A
  io disk 3
thread B
  io disk 2
)",
                fifo(2), R"(A: io@0, io 0~3, end@3
B: io@0, blocked 0-3 by A, io 3~5, end@5
)"},
        Example{"OrAllAtOnce", R"(
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
    name_of_example);

INSTANTIATE_TEST_SUITE_P(
    Linux22, SchedulerExample,
    testing::Values(
        // At 420 ms both slices are used up and both get new ones; who has the CPU keeps it.
        Example{"SlicesOf210Milliseconds", R"(
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
        Example{"WhoWakesExceedsInGoodness", R"(
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
        Example{
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
        Example{
            "LocksHaveOrderedQueues", lock_taken_again, on_cpus(SchedulerKind::linux_2_2, 2),
            R"(A: lock@0, cpu0 0-2 run, unlock@2, lock@2, blocked 2-3 by B, cpu0 3-5 run, unlock@5, end@5
B: cpu1 0-1 run, lock@1, blocked 1-2 by A, cpu1 2-3 run, unlock@3, end@3
)"}),
    name_of_example);

Machine solaris(std::uint32_t cpus, std::uint32_t lwps = 0) {
  Machine machine = on_cpus(SchedulerKind::solaris, cpus);
  machine.lwps = lwps;
  return machine;
}

INSTANTIATE_TEST_SUITE_P(
    Solaris, SchedulerExample,
    testing::Values(
        // Levels 29, 19 and 9 have slices of 120, 160 and 200 ms.
        Example{
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
        Example{"AThreadKeepsItsLwpUntilItWaits", R"(
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
        Example{"WhoComesBackFromTheKernelGoesUp", R"(
thread S
  sleep 10
  run f 5
thread H
  run f 50
)",
                solaris(1), R"(S: sleep@0, sleep 0~10, cpu0 10-15 run, end@15
H: cpu0 0-10 cut, runnable 10-15 after S, cpu0 15-55 run, end@55
)"},
        // H and I, on level 52, take the CPUs of both: H that of L, as W is still in its call.
        Example{"TakesTheCpusOfTheTwoLowest", R"(
thread H
  barrier B 3
  run f 10
thread I
  barrier B 3
  run f 30
thread W
  run f 10
  barrier B 3
  run f 10
thread L
  run f 20
)",
                [] {
                  Machine machine = solaris(2);
                  machine.threads = {{.bound_to_lwp = true}, {.bound_to_lwp = true}};
                  return machine;
                }(),
                R"(H: barrier@0, blocked 0-10 by W, cpu1 10-20 run, end@20
I: barrier@0, blocked 0-10 by W, cpu0 10-40 run, end@40
W: cpu0 0-10 run, barrier@10, runnable 10-20 after H, cpu1 20-30 run, end@30
L: cpu1 0-10 cut, runnable 10-30 after W, cpu1 30-40 run, end@40
)"},
        Example{"AFurtherLwpWhenAllAreInTheKernel", R"(
thread A
  io disk 10
  run f 5
thread B
  run f 8
)",
                solaris(1, 1), R"(A: io@0, io 0~10, cpu0 10-15 run, end@15
B: cpu0 0-8 run, end@8
)"},
        Example{"BoundThreadsAreDear", R"(
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
    name_of_example);

}  // namespace
}  // namespace longpole::simulation
