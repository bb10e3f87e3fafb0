// What blocking a thread and letting it go on takes, of whom.
#include <chrono>

#include "example.h"

namespace longpole::simulation {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class MachineCosts : public ExampleTest {};
TEST_P(MachineCosts, AreTakenAsWritten) {
  expect_it_runs_as_written();
}

Machine with_costs(Machine machine, int block_ms, int wake_up_ms) {
  machine.block_cost = milliseconds(block_ms);
  machine.release_cost = milliseconds(1);
  machine.release_afar_cost = milliseconds(3);
  machine.wake_up = milliseconds(wake_up_ms);
  return machine;
}

std::string let_go_after(const std::string& work) {
  return R"(
thread A
  wait S
  run f 1
thread B
  run f )" +
         work + R"(
  post S
  run f 1
)";
}

// As from 3 ms of idleness on: in place of a wake-up of 4 ms, and of 3 ms of who lets go.
Machine sleeping_deeply() {
  Machine machine = with_costs(fifo(2), 0, 4);
  machine.deep_sleep = milliseconds(3);
  machine.deep_wake_up = milliseconds(6);
  machine.deep_release_cost = milliseconds(5);
  return machine;
}

Machine two_sent_to_a_cpu_that_wakes_up() {
  Machine machine = with_costs(linux_fair(2), 0, 4);
  machine.interrupt = microseconds(500);
  machine.threads = {{}, {.nice = -10}};
  return machine;
}

Machine signalled_to_a_busy_cpu() {
  Machine machine = with_costs(linux_fair(2), 0, 0);
  machine.latency = milliseconds(1);
  machine.interrupt = microseconds(500);
  machine.threads = {{}, {.nice = -10}};
  return machine;
}

INSTANTIATE_TEST_SUITE_P(
    Waits, MachineCosts,
    testing::Values(
        Example{"ACpuThatHasNotSleptForLongWakesUpAsEver", let_go_after("2"), sleeping_deeply(),
                R"(A: wait@0, blocked 0-6 by B, cpu0 6-7 run, end@7
B: cpu1 0-2 run, post@2, cpu1 2-6 run, end@6
)"},
        Example{"OneThatSleepsDeeplyIsDearerToWake", let_go_after("4"), sleeping_deeply(),
                R"(A: wait@0, blocked 0-10 by B, cpu0 10-11 run, end@11
B: cpu1 0-4 run, post@4, cpu1 4-10 run, end@10
)"},
        // B comes to its CPU at 1, A is back for the other half at 6; the post takes B from 4 to 5.
        Example{"OnOneCpu", let_go_after("3"), with_costs(fifo(1), 2, 0),
                R"(A: wait@0, blocked 0-4 by B, runnable 4-6 after B, cpu0 6-8 run, end@8
B: cpu0 0-4 run, post@4, cpu0 4-6 run, end@6
)"},
        // The post wakes up a CPU, which takes B until 6.
        Example{"ToACpuThatSleeps", let_go_after("3"), with_costs(fifo(2), 0, 2),
                R"(A: wait@0, blocked 0-5 by B, cpu0 5-6 run, end@6
B: cpu1 0-3 run, post@3, cpu1 3-7 run, end@7
)"},
        // CPU 0 is busy with the call until 1, and asleep from 3 on.
        Example{"ToACpuThatFallsAsleep", let_go_after("2500us"), with_costs(fifo(2), 2, 2),
                R"(A: wait@0, blocked 0-2.5 by B, cpu0 2.5-4.5 run, end@4.5
B: cpu1 0-2.5 run, post@2.5, cpu1 2.5-4.5 run, end@4.5
)"},
        Example{"ToACpuThatHasJustFallenAsleep", let_go_after("3"), with_costs(fifo(2), 2, 2),
                R"(A: wait@0, blocked 0-5 by B, cpu0 5-7 run, end@7
B: cpu1 0-3 run, post@3, cpu1 3-7 run, end@7
)"},
        // A has had the CPU for 3 ms, with the call that it blocks in, and B for 1 of its own: A is to wait for it.
        Example{
            "IsTimeOfWhoBlocks", R"(
thread A
  run f 1
  wait S
  run f 1
thread B
  run f 1
  post S
  run f 1
)",
            with_costs(linux_fair(1), 4, 0),
            R"(A: cpu0 0-1 run, wait@1, blocked 1-4 by B, runnable 4-6 after B, cpu0 6-8 wait, cpu0 8-9 run, end@9
B: runnable 0-1 after A, cpu0 1-4 run, post@4, cpu0 4-6 run, end@6
)"},
        // B's signal, on its way from 2 to 3, interrupts CPU 1; A's next post, to its own CPU, takes 1 ms all the same.
        Example{"ToTheOwnCpuBehindASignal", R"(
thread E cpu=0
  wait T
  run f 1
thread B cpu=1
  wait S
  run f 1
thread C cpu=1
  run f 12
thread A cpu=0
  run f 2
  post S
  run f 2
  post T
  run f 1
)",
                signalled_to_a_busy_cpu(),
                R"(E: wait@0, blocked 0-7 by A, runnable 7-8 after A, wait@8, cpu0 8-9 run, end@9
B: wait@0, blocked 0-3 by A, runnable 3-3.5 after C, wait@3.5, cpu1 3.5-4.5 run, end@4.5
C: cpu1 0-3.5 cut, runnable 3.5-4.5 after B, cpu1 4.5-13 run, end@13
A: cpu0 0-2 run, post@2, cpu0 2-7 run, post@7, cpu0 7-8 cut, runnable 8-9 after E, cpu0 9-10 run, end@10
)"},
        // The first post takes 3 ms, the second one 1 ms, though C is to have the CPU: it sends no interrupt.
        Example{"TwoToACpuThatWakesUp", R"(
thread A cpu=0
  wait S
  run f 1
thread C cpu=0
  wait T
  run f 1
thread B cpu=1
  run f 1
  post S
  post T
  run f 1
)",
                two_sent_to_a_cpu_that_wakes_up(),
                R"(A: wait@0, blocked 0-1 by B, runnable 1-6 after C, wait@6, cpu0 6-7 run, end@7
C: wait@0, blocked 0-4 by B, runnable 4-5, wait@5, cpu0 5-6 run, end@6
B: cpu1 0-1 run, post@1, cpu1 1-4 post, cpu1 4-6 run, end@6
)"}),
    name_of_example);

Machine that_fetches_locks(std::uint32_t cpus) {
  Machine machine = fifo(cpus);
  machine.lock_afar_cost = milliseconds(5);
  return machine;
}

// B takes the lock when A has let go of it.
const std::string lock_each = R"(
thread A
  run f 1
  lock M
  run f 1
  unlock M
  run f 2
thread B
  run f 3
  lock M
  run f 1
  unlock M
  run f 2
  lock M
  unlock M
)";

INSTANTIATE_TEST_SUITE_P(
    Locks, MachineCosts,
    testing::Values(
        // Once: then it is B's CPU that had it.
        Example{"FromAnotherCpu", lock_each, that_fetches_locks(2),
                R"(A: cpu0 0-1 run, lock@1, cpu0 1-2 run, unlock@2, cpu0 2-4 run, end@4
B: cpu1 0-3 run, lock@3, cpu1 3-9 run, unlock@9, cpu1 9-11 run, lock@11, unlock@11, end@11
)"},
        Example{"OfTheSameCpu", lock_each, that_fetches_locks(1),
                R"(A: cpu0 0-1 run, lock@1, cpu0 1-2 run, unlock@2, cpu0 2-4 run, end@4
B: runnable 0-4 after A, cpu0 4-7 run, lock@7, cpu0 7-8 run, unlock@8, cpu0 8-10 run, lock@10, unlock@10, end@10
)"},
        // From 2 on B waits for it, and is let go at 4.
        Example{"ThatWereWaitedFor", R"(
thread A
  run f 1
  lock M
  run f 3
  unlock M
  run f 2
thread B
  run f 2
  lock M
  run f 1
  unlock M
)",
                that_fetches_locks(2),
                R"(A: cpu0 0-1 run, lock@1, cpu0 1-4 run, unlock@4, cpu0 4-6 run, end@6
B: cpu1 0-2 run, lock@2, blocked 2-4 by A, cpu1 4-5 run, unlock@5, end@5
)"},
        Example{"OfASemaphore", R"(
thread A
  post S
  run f 2
thread B
  run f 3
  wait S
  run f 1
)",
                that_fetches_locks(2), R"(A: post@0, cpu0 0-2 run, end@2
B: cpu1 0-3 run, wait@3, cpu1 3-9 run, end@9
)"}),
    name_of_example);

// On one CPU: B computes 1 ms and blocks, 0.5 ms. A computes 2 ms, lets B go, 0.5 ms, and computes 1.5 ms. B is back, 0.5
// ms, and computes 1 ms.
constexpr const char* one_waits_for_the_other = R"(
cost block 1
cost release 0.5
1 B wait S cpu=1 took=5.5
3.5 A post S cpu=2
5.5 A end cpu=2
7.5 B end cpu=2.5
)";

TEST(RecordedWaits, ComeAgainOnAsManyCpus) {
  EXPECT_EQ(total(one_waits_for_the_other, fifo(1)), microseconds(7'500));
}

// As above, and it is known who let B go: A then computes 1.5 ms and B 1.5 ms, and not 2 and 1.
TEST(RecordedWaits, LeaveWhoWaitedItsOwnWorkWhereTheWakerIsKnown) {
  const std::string known =
      std::string(one_waits_for_the_other)
          .replace(std::string(one_waits_for_the_other).find("took=5.5"), 8, "took=5.5 from A");
  EXPECT_EQ(total(known, fifo(1)), microseconds(7'500));
  EXPECT_EQ(total(known, fifo(2)), milliseconds(4));
  EXPECT_EQ(total(one_waits_for_the_other, fifo(2)), microseconds(4'500));
}

TEST(RecordedWaits, TakeWhatTheMachineSays) {
  Machine machine = fifo(1);
  machine.block_cost = machine.release_cost = Nanoseconds{};
  EXPECT_EQ(total(one_waits_for_the_other, machine), milliseconds(6));
  machine.block_cost = milliseconds(2);
  EXPECT_EQ(total(one_waits_for_the_other, machine), milliseconds(8));
}

// B waits for A, 1 ms of blocking, which A lets go on, 0.5 ms; in lockstep neither is in the CPU times.
TEST(RecordedWaits, ForAMutexTookNothingInLockstep) {
  const std::string text = R"(
cost block 1
cost release 0.5
1 A lock M cpu=1
2 B lock M cpu=1 took=3 from A
4 A unlock M cpu=2
6 A end cpu=2
8 B unlock M cpu=2
8 B end cpu=0
)";
  Machine machine = fifo(2);
  machine.block_cost = machine.release_cost = Nanoseconds{};
  EXPECT_EQ(total("notice lockstep 2 \"In lockstep.\"" + text, machine), milliseconds(5));
  EXPECT_EQ(total(text, machine), microseconds(4'500));
}

// Recorded on one CPU, B takes a lock that A had, and computes on.
constexpr const char* one_locks_behind_the_other = R"(
cost lock-afar 1
1 A lock M cpu=1
1 A unlock M cpu=0
4 A end cpu=3
6 B lock M cpu=2
6 B unlock M cpu=0
8 B end cpu=2
)";

TEST(RecordedLocks, AreFetchedFromOtherCpus) {
  EXPECT_EQ(total(one_locks_behind_the_other, fifo(1)), milliseconds(8));
  EXPECT_EQ(total(one_locks_behind_the_other, fifo(2)), milliseconds(5));
  EXPECT_EQ(total(std::string("cpus 2") + one_locks_behind_the_other, fifo(2)), milliseconds(4))
      << "where several CPUs recorded, the times hold it";
}

// B tries in vain at 2: the lock stays where it is, and at 3 A takes it again for nothing.
TEST(RecordedLocks, ThatWereNotTakenAreNotFetched) {
  EXPECT_EQ(total(R"(
cost lock-afar 1
1 A lock M cpu=1
3 B trylock M busy cpu=2
3 A unlock M cpu=0
5 A lock M cpu=2
5 A unlock M cpu=0
5 A end cpu=0
5 B end cpu=0
)",
                  fifo(2)),
            milliseconds(3));
}

TEST(RecordedWaits, RemainInWhatSeveralCpusRecorded) {
  EXPECT_EQ(total(std::string("cpus 2") + one_waits_for_the_other, fifo(1)), microseconds(7'500));
}

// It was in its call for longer than that took, and always on its CPU: another thread was faster.
TEST(RecordedWaits, AreNoneOfWhoeverKeptTheCpu) {
  EXPECT_EQ(
      total("cost block 1\n1 A wait S cpu=1 took=1\n1 B post S cpu=0\n3 A end cpu=2\n", fifo(2)),
      milliseconds(3));
}

TEST(RecordedWaits, AreNoneOfWhoeverOnlyLostTheCpu) {
  EXPECT_EQ(total("cost block 1\n2 A yield cpu=2\n4 B end cpu=2\n6 A end cpu=2\n", fifo(1)),
            milliseconds(6));
}

TEST(RecordedWaits, TakeNoMoreThanWasRecorded) {
  EXPECT_EQ(
      total("cost block 4\n1 A wait S cpu=1 took=1\n2 B post S cpu=1\n3 A end cpu=0.5\n", fifo(2)),
      milliseconds(5));
}

}  // namespace
}  // namespace longpole::simulation
