// Small programs on machines: spin locks, speeds, latencies, costs and devices, under any scheduler.
#include "example.h"

namespace longpole::simulation {
namespace {

class MachineExample : public ExampleTest {};

TEST_P(MachineExample, RunsAsWritten) {
  expect_it_runs_as_written();
}

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
    SpinLock, MachineExample,
    testing::Values(
        // B's turn is over at the tick; it tries again in its next.
        Example{
            "BurnsATurn", lock_spun_for, linux_fair(1),
            R"(A: lock@0, cpu0 0-4 cut, runnable 4-8 after B, cpu0 8-10 run, unlock@10, cpu0 10-11 run, end@11
B: runnable 0-4 after A, cpu0 4-5 run, lock@5, cpu0 5-8 spins, runnable 8-11 after A, lock@11, cpu0 11-12 run, unlock@12, end@12
)"},
        Example{"HasItAtOnce", lock_spun_for, linux_fair(2),
                R"(A: lock@0, cpu0 0-6 run, unlock@6, cpu0 6-7 run, end@7
B: cpu1 0-1 run, lock@1, cpu1 1-6 spins, cpu1 6-7 run, unlock@7, end@7
)"},
        // B came first, but C has the CPU.
        Example{"GoesToWhoeverHasACpu", R"(
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
        Example{
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
        Example{
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
        Example{"LeavesTheCpuUnderFifo", R"(
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
        Example{"StandsStillWhereNobodyLetsGo", R"(
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
    name_of_example);

INSTANTIATE_TEST_SUITE_P(
    TryLock, MachineExample,
    testing::Values(Example{
        "GoesPastAHolderThatTriesForItsLock", R"(
thread A
  lock M
  run f 1
  trylock N ok
  run f 2
  unlock N
  unlock M
thread B
  lock N
  run f 1
  trylock M ok
  run f 2
  unlock M
  run f 1
  unlock N
)",
        linux_fair(2),
        R"(A: lock@0, cpu0 0-1 run, trylock@1, blocked 1-4 by B, trylock@4, cpu0 4-6 run, unlock@6, unlock@6, end@6
B: lock@0, cpu1 0-1 run, trylock@1, cpu1 1-3 run, unlock@3, cpu1 3-4 run, unlock@4, end@4
)"}),
    name_of_example);

Machine with(Machine machine, void (*change)(Machine&)) {
  change(machine);
  return machine;
}

INSTANTIATE_TEST_SUITE_P(
    Machine, MachineExample,
    testing::Values(
        Example{"CpusHaveSpeeds", R"(
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
        Example{"TakingUpAnotherThreadCosts", R"(
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
        Example{
            "TakingUpOnAnotherCpuCosts", R"(
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
        Example{
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
        Example{
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
        // Who takes it from the one that woke it up waits until it is awake, too.
        Example{
            "ACpuWakesUpForAll", R"(
thread A cpu=0
  run f 2
  post S
  run f 1
  post R
thread B cpu=1
  wait S
  run f 1
thread C cpu=1 priority=1
  wait R
  run f 1
)",
            with(fifo(2), [](Machine& machine) { machine.wake_up = std::chrono::milliseconds(3); }),
            R"(A: cpu0 0-2 run, post@2, cpu0 2-3 run, post@3, end@3
B: wait@0, blocked 0-2 by A, runnable 2-6 after C, cpu1 6-7 run, end@7
C: wait@0, blocked 0-3 by A, runnable 3-5, cpu1 5-6 run, end@6
)"},
        Example{"CallsCost", R"(
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
        Example{
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
        Example{
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
        Example{
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
        Example{
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
    name_of_example);

}  // namespace
}  // namespace longpole::simulation
