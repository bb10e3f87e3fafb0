// Threads that create, signal and meet each other, with a CPU for each.
#include "ideal_example.h"

namespace longpole::simulation {
namespace {

class Ideal : public IdealTest {};

TEST_P(Ideal, RunsAsWritten) {
  expect_it_runs_as_written();
}

INSTANTIATE_TEST_SUITE_P(
    Threads, Ideal,
    testing::Values(IdealCase{"CreateAndJoin", R"(
thread main
  run f 1
  create worker
  run f 2
  join worker
  run f 1
thread worker
  run g 5
)",
                              R"(main: run 0-1 create@1 run 1-3 join@3 run 6-7 end@7
worker: run 1-6 end@6
)"},
                    IdealCase{"JoinOfAThreadThatHasEnded", R"(
thread main
  create worker
  run f 2
  join worker
  detach worker
thread worker
  run g 1
)",
                              R"(main: create@0 run 0-2 join@2 detach@2 end@2
worker: run 0-1 end@1
)"},
                    IdealCase{"CancelEndsAWaitAndFreesTheJoiner", R"(
thread main
  run f 3
  cancel worker
  join worker
  run f 1
thread worker
  wait nothing
  run g 9
)",
                              R"(main: run 0-3 cancel@3 join@3 run 3-4 end@4
worker: wait@0
)"},
                    IdealCase{"CancelActsAtTheNextCancellationPoint", R"(
thread main
  cancel worker
thread worker
  run g 2
  lock M
  unlock M
  run g 1
  sleep 5
  run g 9
)",
                              R"(main: cancel@0 end@0
worker: run 0-2 lock@2 unlock@2 run 2-3 sleep@3
)"},
                    IdealCase{"CancelCutsASleepShort", R"(
thread main
  run f 2
  cancel worker
  join worker
  run f 1
thread worker
  sleep 5
)",
                              R"(main: run 0-2 cancel@2 join@2 run 2-3 end@3
worker: sleep@0
)"},
                    IdealCase{"CancelledUserFreesItsDevice", R"(
thread main
  run f 2
  cancel A
thread A
  io disk 5
thread B
  run f 1
  io disk 5
)",
                              R"(main: run 0-2 cancel@2 end@2
A: io@0
B: run 0-1 io@1 io 2~7 end@7
)"}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(Semaphores, Ideal,
                         testing::Values(IdealCase{"PostsAreCounted", R"(
semaphore S = 1
thread A
  wait S
  wait S
  run f 1
thread B
  run f 3
  post S
  post T
  post T
thread C
  run f 4
  wait T
  trywait T ok
  trywait T busy
  timedwait T 2 timeout
  timedwait S 1 timeout
)",
                                                   R"(A: wait@0 wait@0 run 3-4 end@4
B: run 0-3 post@3 post@3 post@3 end@3
C: run 0-4 wait@4 trywait@4 trywait@4 timedwait@4 timedwait 4~6 timedwait@6 timedwait 6~7 end@7
)"},
                                         IdealCase{"AWaitThatNobodyEnds", R"(
thread A
  wait S
thread B
  run f 2
)",
                                                   R"(A: wait@0
B: run 0-2 end@2
deadlock at 0: A wait since 0
)"}),
                         name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Conditions, Ideal,
    testing::Values(
        // On one CPU A waits first; in the ideal execution B's signal is the first.
        IdealCase{"ASignalThatWokeIsRemembered", R"(
thread A
  run f 5
  lock M
  cwait C M
  run f 1
  unlock M
thread B
  run f 1
  lock M
  signal C
  unlock M
)",
                  R"(A: run 0-5 lock@5 cwait@5 run 5-6 unlock@6 end@6
B: run 0-1 lock@1 signal@1 unlock@1 end@1
)"},
        // On one CPU the first signal wakes nobody; were it remembered, A would not wait till 4.
        IdealCase{"ASignalThatWokeNobodyIsNotRemembered", R"(
thread A
  signal C
  run f 1
  lock M
  cwait C M
  unlock M
thread B
  run f 4
  signal C
)",
                  R"(A: signal@0 run 0-1 lock@1 cwait@1 unlock@4 end@4
B: run 0-4 signal@4 end@4
)"},
        IdealCase{"WaitersTakeTheMutexAgainOneByOne", R"(
thread A
  lock M
  cwait C M
  run f 2
  unlock M
thread B
  lock M
  cwait C M
  run f 2
  unlock M
thread D
  run f 1
  lock M
  broadcast C
  run f 3
  unlock M
)",
                  R"(A: lock@0 cwait@0 run 4-6 unlock@6 end@6
B: lock@0 cwait@0 run 6-8 unlock@8 end@8
D: run 0-1 lock@1 broadcast@1 run 1-4 unlock@4 end@4
)"},
        // A barrier of three made of a condition. On one CPU D comes last; here it comes first,
        // leaves the mutex to the others, and goes on when they are there.
        IdealCase{"ABroadcastWaitsForTheThreadsThatItWoke", R"(
thread A
  run f 5
  lock M
  cwait C M
  unlock M
  run f 1
thread B
  run f 7
  lock M
  cwait C M
  unlock M
  run f 1
thread D
  run f 2
  lock M
  broadcast C
  unlock M
  run f 1
)",
                  R"(A: run 0-5 lock@5 cwait@5 unlock@7 run 7-8 end@8
B: run 0-7 lock@7 cwait@7 unlock@7 run 7-8 end@8
D: run 0-2 lock@2 broadcast@2 unlock@7 run 7-8 end@8
)"},
        IdealCase{"ATimedWaitThatTimesOutTakesItsMutexAgain", R"(
thread A
  lock M
  ctimedwait C M 3 timeout
  run f 1
  unlock M
thread B
  run f 1
  lock M
  run f 4
  unlock M
)",
                  R"(A: lock@0 ctimedwait@0 ctimedwait 0~3 run 5-6 unlock@6 end@6
B: run 0-1 lock@1 run 1-5 unlock@5 end@5
)"},
        IdealCase{"ATimedWaitThatIsSignalled", R"(
thread A
  lock M
  ctimedwait C M 9 ok
  run f 1
  unlock M
thread B
  run f 2
  lock M
  signal C
  unlock M
)",
                  R"(A: lock@0 ctimedwait@0 run 2-3 unlock@3 end@3
B: run 0-2 lock@2 signal@2 unlock@2 end@2
)"},
        // Priorities decide what happens on the one CPU: B first, so its signal is lost, the
        // program stands still there, and its conditions stay as open as it wrote them.
        IdealCase{"PrioritiesDecideTheRunOnOneCpu", R"(
thread A priority=1
  cwait C M
  run f 1
thread B priority=2
  run f 2
  signal C
)",
                  R"(A: cwait@0 run 2-3 end@3
B: run 0-2 signal@2 end@2
)"}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    OffTheCpu, Ideal,
    testing::Values(
        IdealCase{
            "SleepsAndOtherWaits", R"(
thread A
  run f 1
  sleep 2
  run f 1
  external 500us
  yield
)",
            R"(A: run 0-1 sleep@1 sleep 1~3 run 3-4 external@4 external 4~4.5 yield@4.5 end@4.5
)"},
        IdealCase{"ADeviceServesOneAtATime", R"(
thread A
  io disk 4
thread B
  run f 1
  io disk 4
  run f 1
thread C
  run f 1
  io tape 4
)",
                  R"(A: io@0 io 0~4 end@4
B: run 0-1 io@1 io 4~8 run 8-9 end@9
C: run 0-1 io@1 io 1~5 end@5
)"}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(Meetings, Ideal,
                         testing::Values(IdealCase{"ABarrierOpensWithTheLast", R"(
thread A
  run f 1
  barrier B 2
  run f 1
  barrier B 2
thread B
  run f 3
  barrier B 2
  run f 4
  barrier B 2
)",
                                                   R"(A: run 0-1 barrier@1 run 3-4 barrier@4 end@7
B: run 0-3 barrier@3 run 3-7 barrier@7 end@7
)"},
                                         IdealCase{"SenderAndReceiverMeet", R"(
thread A
  run f 1
  send X to B
  run f 1
thread B
  run f 3
  receive X
  receive X
  run f 1
thread C
  run f 5
  send X to B
  send X to A
)",
                                                   R"(A: run 0-1 send@1 run 3-4 end@4
B: run 0-3 receive@3 receive@3 run 5-6 end@6
C: run 0-5 send@5 send@5
deadlock at 5: C send since 5
)"}),
                         name_of_case);

TEST(ByEnd, CausesComeFirstAndTiesInThreadOrder) {
  const Recording recording = *read_program(R"(
thread A
  wait S
thread B
  run f 2
thread C
  run f 2
  post S
)",
                                            "test");
  const Schedule schedule = simulate_ideal(recording);
  // At 2: B's stretch and end, then C's stretch and post; the post lets A end, before C's own end.
  std::vector<std::string> order;
  for (const SegmentIndex index : schedule.by_end) {
    const Segment& segment = schedule.segments[index];
    order.push_back(recording.threads[segment.thread.index()].name + std::to_string(segment.event));
  }
  EXPECT_THAT(order, testing::ElementsAre("A0", "B0", "B1", "C0", "C1", "A1", "C2"));
}

TEST(Concurrency, CountsWhoRuns) {
  const Recording recording = *read_program(R"(
thread A
  run f 1
  sleep 2
  run f 1
thread B
  run f 2
)",
                                            "test");
  const std::vector<ConcurrencyStep> steps = concurrency(simulate_ideal(recording));
  std::vector<std::pair<std::int64_t, std::uint32_t>> plain;
  for (const ConcurrencyStep& step : steps)
    plain.emplace_back(step.time.count() / 1'000'000, step.running);
  EXPECT_THAT(plain, testing::ElementsAre(std::pair{0, 2U}, std::pair{1, 1U}, std::pair{2, 0U},
                                          std::pair{3, 1U}, std::pair{4, 0U}));
  EXPECT_TRUE(shared_completion_times_cpus(steps, 1) == 5'000'000);
  EXPECT_TRUE(shared_completion_times_cpus(steps, 2) == 8'000'000);
}

TEST(Simulation, IsDeterministic) {
  const Recording recording = *read_program(R"(
thread A
  lock M
  run f 1
  unlock M
thread B
  lock M
  run f 1
  unlock M
)",
                                            "test");
  const Schedule once = simulate_ideal(recording);
  const Schedule again = simulate_ideal(recording);
  EXPECT_EQ(once.by_end, again.by_end);
}

TEST(Simulation, OfNothingIsNothing) {
  const Schedule schedule = simulate_ideal(Recording{});
  EXPECT_TRUE(schedule.segments.empty());
  EXPECT_EQ(schedule.total, Nanoseconds{});
  EXPECT_EQ(concurrency(schedule).size(), 1U);
}

}  // namespace
}  // namespace longpole::simulation
