// What a CPU of `linux` gets from another one: when it falls idle beside threads that wait there, at ticks, and when a
// thread is woken there.
#include <chrono>
#include <string>

#include "example.h"
#include "simulation/newly_idle.h"

namespace longpole::simulation {
namespace {

// How often of so many times a CPU looks, where looks help in so many of a hundred cases.
int looks(std::uint32_t cpu, int times, int helpful, std::uint32_t share = 128,
          std::uint32_t chance = 0) {
  NewlyIdle newly_idle;
  newly_idle.start(cpu, share, chance);
  int looks = 0;
  for (int i = 0; i < times; ++i) {
    if (!newly_idle.looks())
      continue;
    ++looks;
    newly_idle.found(i * 37 % 100 < helpful);
  }
  return looks;
}

TEST(NewlyIdle, LooksAsOftenAsThatHelps) {
  constexpr int times = 20'000;
  constexpr int points = times / 100;
  for (const std::uint32_t cpu : {0U, 1U, 63U}) {
    for (const int helpful : {20, 50, 80})
      EXPECT_NEAR(looks(cpu, times, helpful), helpful * points, 12 * points) << cpu;
    EXPECT_GE(looks(cpu, times, 100), 70 * points) << cpu;
    EXPECT_LE(looks(cpu, times, 0), points) << cpu;
  }
}

// As often as it helped before, half of that once the kernel would count anew, 512 times later, and so on.
TEST(NewlyIdle, LearnsAsSlowlyAsTheKernel) {
  for (const std::uint32_t share : {0U, 128U, 512U, 1024U}) {
    int first = 0;
    int second = 0;
    for (std::uint32_t cpu = 0; cpu < 64; ++cpu) {
      first += looks(cpu, 512, 0, share);
      second += looks(cpu, 1024, 0, share) - looks(cpu, 512, 0, share);
    }
    EXPECT_NEAR(first, 64 * 512 * share / 1024.0, 200) << share;
    EXPECT_NEAR(second, 64 * 512 * share / 2048.0, 200) << share;
  }
}

TEST(NewlyIdle, IsTheSameEachTimeAndOtherwiseOnOtherCpusAndByOtherChances) {
  EXPECT_EQ(looks(1, 1000, 50), looks(1, 1000, 50));
  EXPECT_NE(looks(1, 1000, 50), looks(2, 1000, 50));
  EXPECT_EQ(looks(1, 1000, 50, 128, 3), looks(1, 1000, 50, 128, 3));
  EXPECT_NE(looks(1, 1000, 50), looks(1, 1000, 50, 128, 3));
}

class IdleCpu : public ExampleTest {};

TEST_P(IdleCpu, RunsAsWritten) {
  expect_it_runs_as_written();
}

// Where it takes time to wake up a CPU, looks do, too.
Machine real(ThreadSettings second = {}) {
  Machine machine = linux_fair(2);
  machine.wake_up = std::chrono::nanoseconds(1);
  machine.threads = {{}, second};
  return machine;
}

Machine looks_every(int milliseconds, ThreadSettings second = {}) {
  Machine machine = real(second);
  machine.idle_look = std::chrono::milliseconds(milliseconds);
  return machine;
}

// B leaves a CPU while A and C share the other.
constexpr const char* falls_idle_early = R"(
thread A
  run f 20
thread B
  run f 4200us
thread C
  run f 20
)";

INSTANTIATE_TEST_SUITE_P(
    Linux, IdleCpu,
    testing::Values(
        // CPU 1 looks the fourth time that it falls idle.
        Example{"TakesWhoWaitsIfItLooks", R"(
thread A
  run f 8
thread B
  run f 100us
  sleep 100us
  run f 100us
  sleep 100us
  run f 100us
  sleep 100us
  run f 100us
thread C
  run f 8
)",
                real(), R"(A: cpu0 0-8 run, end@8
B: cpu1 0-0.1 run, sleep@0.1, sleep 0.1~0.2, cpu1 0.2-0.3 run, sleep@0.3, sleep 0.3~0.4, cpu1 0.4-0.5 run, sleep@0.5, sleep 0.5~0.6, cpu1 0.6-0.7 run, end@0.7
C: runnable 0-0.7 after B, cpu1 0.7-8.7 run, end@8.7
)"},
        // At 4.2 ms A has lost its CPU 0.2 ms ago. At each tick then who waits has just lost it, which matters
        // no more the third time. So it was in traces of 6.18.
        Example{
            "TakesWhatIsInACacheOnTheThirdLook", falls_idle_early, real(),
            R"(A: cpu0 0-4 cut, runnable 4-8 after C, cpu0 8-12 cut, runnable 12-16 after C, cpu0 16-28 run, end@28
B: cpu1 0-4.2 run, end@4.2
C: runnable 0-4 after A, cpu0 4-8 cut, runnable 8-12 after A, cpu0 12-16 cut, cpu1 16-28 run, end@28
)"},
        // Likewise where a CPU looks at every other tick: at 8, 16 and 24 ms.
        Example{
            "LooksNoMoreOftenThanTheMachineDoes", falls_idle_early, looks_every(8),
            R"(A: cpu0 0-4 cut, runnable 4-8 after C, cpu0 8-12 cut, runnable 12-16 after C, cpu0 16-20 cut, runnable 20-24 after C, cpu0 24-32 run, end@32
B: cpu1 0-4.2 run, end@4.2
C: runnable 0-4 after A, cpu0 4-8 cut, runnable 8-12 after A, cpu0 12-16 cut, runnable 16-20 after A, cpu0 20-24 cut, cpu1 24-32 run, end@32
)"},
        // Until C moves at 16 ms as above. At 20.3 ms CPU 0 falls idle, C has lost its CPU 0.4 ms ago, and the idle
        // are due at 44 ms, when CPU 1 would look while busy. The tick at 24 ms finds out that CPU 0 is due, so
        // the third look is that at 36 ms.
        Example{
            "IsToldOfTicksOnceItIsKnownToBeDue", R"(
thread A
  run f 12300us
thread B
  run f 4200us
thread C
  run f 24
thread S
  sleep 15900us
  run f 14
)",
            real(),
            R"(A: cpu0 0-4 cut, runnable 4-8 after C, cpu0 8-12 cut, runnable 12-16 after C, cpu0 16-20.3 run, end@20.3
B: cpu1 0-4 cut, cpu1 4-4.2 run, end@4.2
C: runnable 0-4 after A, cpu0 4-8 cut, runnable 8-12 after A, cpu0 12-16 cut, cpu1 16-19.9 cut, runnable 19.9-24 after S, cpu1 24-28 cut, runnable 28-32 after S, cpu1 32-36 cut, cpu0 36-40.1 run, end@40.1
S: runnable 0-4 after B, sleep@4, sleep 4~19.9, cpu1 19.9-24 cut, runnable 24-28 after C, cpu1 28-32 cut, runnable 32-36 after C, cpu1 36-41.9 run, end@41.9
)"},
        // At 8 ms it takes A, and at 9 it is idle again; it looks at 16, 24 and 32 ms, when a busy CPU would not yet look.
        Example{"LooksByItselfWhereTheMachineDoesSo", R"(
thread A
  run f 5
thread B
  run f 100us
thread C
  run f 30
thread G
  run f 100us
thread D
  run f 30
)",
                looks_every(8, {.nice = -10}),
                R"(A: cpu0 0-4 cut, runnable 4-8, cpu1 8-9 run, end@9
B: cpu1 0-0.1 run, end@0.1
C: runnable 0-4 after A, cpu0 4-8 cut, runnable 8-12 after D, cpu0 12-16 cut, runnable 16-20 after D, cpu0 20-24 cut, runnable 24-28 after D, cpu0 28-32 cut, cpu1 32-46 run, end@46
G: runnable 0-0.1 after B, cpu1 0.1-0.2 run, end@0.2
D: runnable 0-8 after C, cpu0 8-12 cut, runnable 12-16 after C, cpu0 16-20 cut, runnable 20-24 after C, cpu0 24-28 cut, runnable 28-32 after C, cpu0 32-50 run, end@50
)"},
        // B is so heavy that none starts beside it and G, and CPU 1 does not look at 0.2 ms. At the tick A has had its
        // slice, and C gets the CPU; of these five, the two that wait longest move. D comes to an empty queue and has no
        // lag there; E keeps its own beside D, and goes first.
        Example{"TakesHalfAtATick", R"(
thread A
  run f 8
thread B
  run f 100us
thread C
  run f 4
thread G
  run f 100us
thread D
  run f 4
thread E
  run f 4
thread F
  run f 4
)",
                real({.nice = -10}),
                R"(A: cpu0 0-4 cut, runnable 4-12 after F, cpu0 12-16 run, end@16
B: cpu1 0-0.1 run, end@0.1
C: runnable 0-4 after A, cpu0 4-8 run, end@8
G: runnable 0-0.1 after B, cpu1 0.1-0.2 run, end@0.2
D: runnable 0-8 after E, cpu1 8-12 run, end@12
E: runnable 0-4 after G, cpu1 4-8 run, end@8
F: runnable 0-8 after C, cpu0 8-12 run, end@12
)"}),
    name_of_example);

// S is light, G heavy, and H heavier; slices outlast the looks.
Machine light_and_heavy() {
  Machine machine = real();
  machine.slice = std::chrono::milliseconds(100);
  machine.threads = {{.nice = 19}, {.nice = -2}, {}, {.nice = -5}};
  return machine;
}

// S has 4 ms that count as 273, and sleeps in the queue of CPU 0 as long as the others there are behind that. CPU 1 looks at
// 28 ms, before which it was used too little; at 92, when S is not eligible and A and B are heavier than half of what is
// between the CPUs (2063 and 1586); and at 120, when it may take who is not. It takes S, which wakes up there. At 148, 176
// and 204 A and B are still too heavy.
INSTANTIATE_TEST_SUITE_P(
    Asleep, IdleCpu,
    testing::Values(Example{
        "WhoSleepsInAQueueIsMovedToo", R"(
thread S
  run f 4
  sleep 166
  run f 1
thread G
  run f 303
thread A
  run f 150
thread H
  run f 1us
thread B
  run f 150
)",
        light_and_heavy(),
        R"(S: cpu0 0-4 run, sleep@4, sleep 4~170, runnable 170-303.001 after G, cpu1 303.001-304.001 run, end@304.001
G: cpu1 0-52 cut, runnable 52-52.001 after H, cpu1 52.001-303.001 run, end@303.001
A: runnable 0-4 after S, cpu0 4-56 cut, runnable 56-108 after B, cpu0 108-206 run, end@206
H: runnable 0-52 after G, cpu1 52-52.001 run, end@52.001
B: runnable 0-56 after A, cpu0 56-108 cut, runnable 108-206 after A, cpu0 206-304 run, end@304
)"}),
    name_of_example);

Machine interrupted(int microseconds) {
  Machine machine = real();
  machine.interrupt = std::chrono::microseconds(microseconds);
  machine.threads = {{}, {.nice = -10}};
  return machine;
}

Machine told_at_a_price() {
  Machine machine = interrupted(500);
  machine.release_cost = std::chrono::microseconds(100);
  machine.release_afar_cost = std::chrono::microseconds(300);
  return machine;
}

Machine both_heavy(Machine machine) {
  machine.threads.push_back({.nice = -10});
  return machine;
}

// The last 200 us until C's CPU has learned of B go into the interrupt.
Machine taking_time(Machine machine) {
  machine.interruption = std::chrono::microseconds(200);
  return machine;
}

// B waits on CPU 1, where C computes for so long.
std::string woken_beside(const std::string& work_of_c) {
  return R"(
thread A cpu=0
  run f 2
  post S
  run f 1
thread B cpu=1
  wait S
  run f 1
thread C cpu=1
  run f )" +
         work_of_c + "\n";
}

// B, heavier, is to have the CPU of C from 2 ms on. That hears of it by an interrupt, unless it is free before.
INSTANTIATE_TEST_SUITE_P(
    Interrupted, IdleCpu,
    testing::Values(
        Example{"AtOnceWhereThatTakesNoTime", woken_beside("4"), interrupted(0),
                R"(A: cpu0 0-2 run, post@2, cpu0 2-3 run, end@3
B: wait@0, blocked 0-2 by A, wait@2, cpu1 2-3 run, end@3
C: cpu1 0-2 cut, runnable 2-3 after B, cpu1 3-5 run, end@5
)"},
        Example{"ABusyCpuLearnsLater", woken_beside("4"), interrupted(500),
                R"(A: cpu0 0-2 run, post@2, cpu0 2-3 run, end@3
B: wait@0, blocked 0-2 by A, runnable 2-2.5 after C, wait@2.5, cpu1 2.5-3.5 run, end@3.5
C: cpu1 0-2.5 cut, runnable 2.5-3.5 after B, cpu1 3.5-5 run, end@5
)"},
        Example{"ItsWakerSendsIt", woken_beside("4"), told_at_a_price(),
                R"(A: cpu0 0-2 run, post@2, cpu0 2-3.3 run, end@3.3
B: wait@0, blocked 0-2 by A, runnable 2-2.5 after C, wait@2.5, cpu1 2.5-3.5 run, end@3.5
C: cpu1 0-2.5 cut, runnable 2.5-3.5 after B, cpu1 3.5-5 run, end@5
)"},
        Example{"OneThatIsFreeBeforeTakesItThen", woken_beside("2100us"), interrupted(500),
                R"(A: cpu0 0-2 run, post@2, cpu0 2-3 run, end@3
B: wait@0, blocked 0-2 by A, runnable 2-2.1 after C, wait@2.1, cpu1 2.1-3.1 run, end@3.1
C: cpu1 0-2.1 run, end@2.1
)"},
        // C has computed for 2.3 ms when it loses its CPU.
        Example{"TheInterruptTakesItsTime", woken_beside("4"), taking_time(interrupted(500)),
                R"(A: cpu0 0-2 run, post@2, cpu0 2-3 run, end@3
B: wait@0, blocked 0-2 by A, runnable 2-2.5 after C, wait@2.5, cpu1 2.5-3.5 run, end@3.5
C: cpu1 0-2.5 cut, runnable 2.5-3.5 after B, cpu1 3.5-5.2 run, end@5.2
)"},
        Example{"ItComesAllTheSameWhereTheCpuIsFreeBefore", woken_beside("2100us"),
                taking_time(interrupted(500)),
                R"(A: cpu0 0-2 run, post@2, cpu0 2-3 run, end@3
B: wait@0, blocked 0-2 by A, runnable 2-2.1 after C, wait@2.1, cpu1 2.1-3.3 run, end@3.3
C: cpu1 0-2.1 run, end@2.1
)"},
        // A is through with sending it at 2.3.
        Example{"UntilItIsSentTheCpuTakesUpNobody", woken_beside("2100us"),
                taking_time(told_at_a_price()),
                R"(A: cpu0 0-2 run, post@2, cpu0 2-3.3 run, end@3.3
B: wait@0, blocked 0-2 by A, runnable 2-2.1 after C, cpu1 2.1-2.3 wait, cpu1 2.3-3.5 run, end@3.5
C: cpu1 0-2.1 run, end@2.1
)"},
        // A is through with both posts at 2.4: the second sends none.
        Example{"OneThatIsToChooseIsSentNoOther", R"(
thread A cpu=0
  run f 2
  post S
  post T
  run f 1
thread B cpu=1
  wait S
  run f 1
thread D cpu=1
  wait T
  run f 1
thread C cpu=1
  run f 4
)",
                both_heavy(told_at_a_price()),
                R"(A: cpu0 0-2 run, post@2, cpu0 2-2.3 post, cpu0 2.3-3.4 run, end@3.4
B: wait@0, blocked 0-2 by A, runnable 2-2.5 after C, wait@2.5, cpu1 2.5-3.5 run, end@3.5
D: wait@0, blocked 0-2.3 by A, runnable 2.3-3.5 after B, wait@3.5, cpu1 3.5-4.5 run, end@4.5
C: cpu1 0-2.5 cut, runnable 2.5-4.5 after D, cpu1 4.5-6 run, end@6
)"},
        // C's post lets D go on, on another CPU.
        Example{
            "WhoIsBackFromWakingAnotherGivesWayThen", R"(
thread D cpu=0
  wait T
  run f 1
thread B cpu=1
  wait S
  run f 1
thread A cpu=0
  run f 2
  post S
  run f 1
thread C cpu=1
  run f 2100us
  post T
  run f 2
)",
            interrupted(500),
            R"(D: wait@0, blocked 0-2.1 by C, runnable 2.1-2.6 after A, wait@2.6, cpu0 2.6-3.6 run, end@3.6
B: wait@0, blocked 0-2 by A, runnable 2-2.1 after C, wait@2.1, cpu1 2.1-3.1 run, end@3.1
A: cpu0 0-2 run, post@2, cpu0 2-2.6 cut, runnable 2.6-3.6 after D, cpu0 3.6-4 run, end@4
C: cpu1 0-2.1 run, post@2.1, runnable 2.1-3.1 after B, cpu1 3.1-5.1 run, end@5.1
)"}),
    name_of_example);

// Where nothing has costs, looks have none, and no CPU stays idle.
INSTANTIATE_TEST_SUITE_P(InProgramFiles, IdleCpu,
                         testing::Values(Example{
                             "AlwaysTakesWhoWaits", falls_idle_early, linux_fair(2),
                             R"(A: cpu0 0-4 cut, runnable 4-4.2 after B, cpu1 4.2-20.2 run, end@20.2
B: cpu1 0-4.2 run, end@4.2
C: runnable 0-4 after A, cpu0 4-24 run, end@24
)"}),
                         name_of_example);

}  // namespace
}  // namespace longpole::simulation
