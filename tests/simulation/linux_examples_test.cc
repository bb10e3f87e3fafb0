// Small programs under `linux`, with the intervals that its page promises.
#include <cstdint>
#include <initializer_list>

#include "example.h"
#include "trace/program_text.h"

namespace longpole::simulation {
namespace {

class LinuxExample : public ExampleTest {};

TEST_P(LinuxExample, RunsAsWritten) {
  expect_it_runs_as_written();
}

Machine with_second(Machine machine, ThreadSettings settings) {
  machine.threads = {{}, settings};
  return machine;
}

Machine with_latency(Machine machine) {
  machine.latency = std::chrono::milliseconds(1);
  return machine;
}

Machine on_course(std::uint32_t chance) {
  Machine machine = linux_fair(1);
  machine.chance = chance;
  return machine;
}

Machine with_nice_values(Machine machine, std::initializer_list<std::int32_t> values) {
  for (const std::int32_t value : values) {
    ThreadSettings settings;
    settings.nice = value;
    machine.threads.push_back(settings);
  }
  return machine;
}

INSTANTIATE_TEST_SUITE_P(
    Linux, LinuxExample,
    testing::Values(
        // Slices of 0.7 ms end at ticks of 4 ms.
        Example{
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
        // Of which the first comes 1.5 ms after the start on that course.
        Example{"TicksComeAnotherTimeByChance", R"(
thread A
  run f 7
thread B
  run f 2
)",
                on_course(1), R"(A: cpu0 0-1.5 cut, runnable 1.5-3.5 after B, cpu0 3.5-9 run, end@9
B: runnable 0-1.5 after A, cpu0 1.5-3.5 run, end@3.5
)"},
        // Weights 1024 and 335: B's 4 ms count as 12.2 ms. At 12 and 16 ms A (8 and 12) is before the
        // average (9.0 and 12.1), B after it.
        Example{"NiceValuesWeigh", R"(
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
        Example{"WhoWakesPreempts", R"(
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
        Example{"WhoWakesDoesNotCutASliceShort", R"(
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
        // Else H would have forgone it, and give way to S as T wakes.
        Example{"AYieldToNobodyKeepsTheSlice", R"(
thread S
  sleep 150us
  run f 1
thread T
  sleep 250us
  run f 1
thread H
  run f 100us
  yield
  run f 10
)",
                linux_fair(1),
                R"(S: sleep@0, sleep 0~0.15, runnable 0.15-4 after H, cpu0 4-5 run, end@5
T: sleep@0, sleep 0~0.25, runnable 0.25-5 after S, cpu0 5-6 run, end@6
H: cpu0 0-0.1 run, yield@0.1, cpu0 0.1-4 cut, runnable 4-6 after T, cpu0 6-12.1 run, end@12.1
)"},
        // C waits on CPU 0 with A. CPU 1 counts as half used when B starts, which leaves B for used half as
        // much every 33.6 ms: it has room to spare (more than 15%) until its look at 64 ms, which comes at 80 ms,
        // for by chance CPU 1's tick comes before the count then. Moving one of them would only turn the imbalance
        // round, and more so on the second look, at 96 ms, late by the same chance; at 112 ms it is done all the same.
        // A has just had its turn, so B keeps the CPU until 128 ms.
        Example{
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
        // CPU 1 has no room to spare from its look at 96 ms on, which is at 2326 and 1024. C, of weight 335, would
        // even that out and has its data in no cache, but is ahead: its 16 ms count as 48.9, those of A (1991)
        // until then as 41.1. At the second look, at 112 ms, they count as 49.4, so C has just got the CPU.
        Example{"LeavesWhoIsAheadTheFirstTime", R"(
thread C
  run f 20
thread A cpu=0
  run f 110
thread B cpu=1
  run f 120
)",
                with_nice_values(linux_fair(2, 16), {5, -3, 0}),
                R"(C: cpu0 0-16 cut, runnable 16-112 after A, cpu0 112-116 run, end@116
A: runnable 0-16 after C, cpu0 16-112 cut, runnable 112-116 after C, cpu0 116-130 run, end@130
B: cpu1 0-120 run, end@120
)"},
        // Weights: A 1024, W 1277, B 1991, S 172, C 36. S sleeps in its queue, for its 7 ms count as 41.7, which
        // those of B do at 88 ms; the tick at 96 ms lets go of it. CPU 1 looks before, so it has two threads, and
        // weighs 2163; CPU 0 weighs 2320, with half of C, which woke 26 ms ago. That is less than a sixth more, and C
        // stays, though it would even that out. When W ends, A has used more than C, which gets its turn.
        Example{"CountsWhoSleepsInItsQueueWhereCpusAreNearlyEven", R"(
thread C
  sleep 70
  run f 4
thread A cpu=0
  run f 60
thread B cpu=1
  run f 130
thread S cpu=1
  run f 7
  sleep 150
thread W cpu=0
  run f 60
)",
                with_nice_values(linux_fair(2, 16), {15, 0, -3, 8, -1}),
                R"(C: sleep@0, sleep 0~70, runnable 70-108 after W, cpu0 108-112 run, end@112
A: runnable 0-16 after W, cpu0 16-32 cut, runnable 32-48 after W, cpu0 48-64 cut, runnable 64-80 after W, cpu0 80-96 cut, runnable 96-112 after C, cpu0 112-124 run, end@124
B: cpu1 0-16 cut, runnable 16-23 after S, cpu1 23-137 run, end@137
S: runnable 0-16 after B, cpu1 16-23 run, sleep@23, sleep 23~173, end@173
W: cpu0 0-16 cut, runnable 16-32 after A, cpu0 32-48 cut, runnable 48-64 after A, cpu0 64-80 cut, runnable 80-96 after A, cpu0 96-108 run, end@108
)"},
        // S wakes between ticks and finds A, whose slice was over at 8.7 ms. Virtual times at 10 ms: A 6,
        // B 4, S 5; B has the earliest deadline.
        Example{"WhoWakesEndsASliceThatIsUsedUp", R"(
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
        Example{"StartsOnAnIdleCpuAndWakesOnItsLast", R"(
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
        Example{"RealTimeGoesFirst", R"(
thread A
  run f 10
thread B priority=1
  sleep 1
  run f 20
)",
                linux_fair(1), R"(A: cpu0 0-1 cut, runnable 1-21 after B, cpu0 21-30 run, end@30
B: sleep@0, sleep 0~1, cpu0 1-21 run, end@21
)"},
        // When A lets B and C go, CPU 1 is idle; when they hear of it, there is one CPU 1 for both.
        Example{
            "RealTimeGoesWhereLessMattersOnceItsCpuIsTaken", R"(
thread A cpu=0
  run f 1
  post X
  post Y
  run f 10
thread B priority=1
  wait X
  run f 4
thread C priority=1
  wait Y
  run f 5
)",
            with_latency(linux_fair(2)),
            R"(A: cpu0 0-1 run, post@1, post@1, cpu0 1-2 cut, runnable 2-7 after C, cpu0 7-16 run, end@16
B: wait@0, blocked 0-2 by A, wait@2, cpu1 2-6 run, end@6
C: wait@0, blocked 0-2 by A, wait@2, cpu0 2-7 run, end@7
)"},
        // The signal and the unlock are seen a millisecond later; A comes to its wait again for the mutex.
        Example{"WhoWaitsForAConditionHearsOfItsMutexAsLate", R"(
thread A cpu=0
  lock M
  cwait C M
  run f 1
  unlock M
thread B cpu=1
  run f 2
  lock M
  signal C
  unlock M
  run f 3
)",
                with_latency(linux_fair(2)),
                R"(A: lock@0, cwait@0, blocked 0-3 by B, cwait@3, cpu0 3-4 run, unlock@4, end@4
B: cpu1 0-2 run, lock@2, signal@2, unlock@2, cpu1 2-5 run, end@5
)"},
        // A, woken at 3, tries again for its mutex, and has nothing to do with the second signal, which is remembered.
        Example{"WhoRetakesItsMutexTakesNobodysSignal", R"(
thread A cpu=0
  lock M
  cwait C M
  run f 1
  unlock M
thread B cpu=1
  run f 6
  lock M
  cwait C M
  unlock M
thread D cpu=2
  run f 2
  signal C
  run f 0.5
  signal C
)",
                with_latency(linux_fair(3)),
                R"(A: lock@0, cwait@0, blocked 0-3 by D, cwait@3, cpu0 3-4 run, unlock@4, end@4
B: cpu1 0-6 run, lock@6, cwait@6, unlock@6, end@6
D: cpu2 0-2 run, signal@2, cpu2 2-2.5 run, signal@2.5, end@2.5
)"},
        // C takes the first post, which has woken A, when it comes to its CPU, and A has the second.
        Example{"APostThatWokeOneIsUnderWayToAnother", R"(
thread C cpu=2
  run f 2.5
  wait S
  run f 1
thread A cpu=1
  wait S
thread P cpu=0
  run f 2
  post S
  run f 2
  post S
)",
                with_latency(linux_fair(3)),
                R"(C: cpu2 0-2.5 run, wait@2.5, blocked 2.5-3 by P, cpu2 3-4 run, end@4
A: wait@0, blocked 0-3 by P, wait@3, blocked 3-5 by P, wait@5, end@5
P: cpu0 0-2 run, post@2, cpu0 2-4 run, post@4, end@4
)"},
        Example{"WhatASemaphoreHoldsAtFirstIsSeenEverywhere", R"(
semaphore S = 4000000000
thread A
  run f 1
  wait S
  run f 1
)",
                with_latency(linux_fair(2)), R"(A: cpu0 0-1 run, wait@1, cpu0 1-2 run, end@2
)"},
        // As glibc's rwlocks let them by themselves; in order of arrival A would wait for C, C for B, and B for A.
        Example{"AReaderGoesPastAWaitingWriter", R"(
thread A
  rdlock L
  wait S
  rwunlock L
thread B
  run f 1
  wrlock L
  rwunlock L
thread C
  run f 2
  rdlock L
  rwunlock L
  post S
)",
                linux_fair(3),
                R"(A: rdlock@0, wait@0, blocked 0-2 by C, wait@2, rwunlock@2, end@2
B: cpu1 0-1 run, wrlock@1, blocked 1-2 by A, rwunlock@2, end@2
C: cpu2 0-2 run, rdlock@2, rwunlock@2, post@2, end@2
)"},
        Example{"AWriterLetsReadersInBeforeTheNextWriter", R"(
thread A
  wrlock L
  run f 4
  rwunlock L
thread B
  run f 1
  wrlock L
  run f 1
  rwunlock L
thread C
  run f 2
  rdlock L
  run f 2
  rwunlock L
thread D
  run f 3
  rdlock L
  run f 3
  rwunlock L
)",
                linux_fair(4),
                R"(A: wrlock@0, cpu0 0-4 run, rwunlock@4, end@4
B: cpu1 0-1 run, wrlock@1, blocked 1-7 by D, cpu1 7-8 run, rwunlock@8, end@8
C: cpu2 0-2 run, rdlock@2, blocked 2-4 by A, cpu2 4-6 run, rwunlock@6, end@6
D: cpu3 0-3 run, rdlock@3, blocked 3-4 by A, cpu3 4-7 run, rwunlock@7, end@7
)"},
        Example{"RoundRobinTakesTurns", R"(
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
    name_of_example);

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
