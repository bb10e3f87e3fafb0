// Calls as they come out of recordings: left unfinished, failed, cancelled, with known counts.
#include <gmock/gmock.h>

#include "schedule_table.h"
#include "simulation/simulate.h"
#include "trace/program_text.h"

namespace longpole::simulation {
namespace {

// What a recorded run can hold and a program file cannot.
class Recorded : public testing::Test {
 protected:
  static Recording recorded(const std::string& program) {
    Recording recording = *read_program(program, "test");
    recording.run.source = Source::kernel;
    return recording;
  }
  static std::string table(const Recording& recording) {
    return schedule_table(recording, simulate_ideal(recording));
  }
};

TEST_F(Recorded, ALockLeftBehindIsFree) {
  EXPECT_EQ(table(recorded(R"(
thread A
  lock M
  run f 2
thread B
  run f 1
  lock M
  rdlock L
thread D
  run f 3
  wrlock L
)")),
            R"(A: lock@0 run 0-2 end@2
B: run 0-1 lock@1 rdlock@2 end@2
D: run 0-3 wrlock@3 end@3
)");
}

// B's unlock undoes A's hold, and A's end does not undo C's.
TEST_F(Recorded, AReadHoldThatAnotherUndoesIsUndoneOnce) {
  EXPECT_EQ(table(recorded(R"(
thread A
  rdlock L
  run f 5
thread B
  run f 1
  rwunlock L
thread C
  rdlock L
  run f 9
  rwunlock L
thread D
  run f 6
  wrlock L
  rwunlock L
)")),
            R"(A: rdlock@0 run 0-5 end@5
B: run 0-1 rwunlock@1 end@1
C: rdlock@0 run 0-9 rwunlock@9 end@9
D: run 0-6 wrlock@6 rwunlock@9 end@9
)");
}

// Its broadcast still wakes W; nobody gives it back the mutex that it left for that.
TEST_F(Recorded, AThreadCancelledInItsBroadcastTakesNoMutexAgain) {
  Recording recording = recorded(R"(
thread A
  run f 1
  lock M
  broadcast C
thread B
  cancel A
thread W
  run f 2
  lock M
  cwait C M
  unlock M
  run f 1
)");
  Event& broadcast = recording.threads[0].events[2];
  broadcast.outcome = Outcome::unfinished;
  broadcast.other = 1;
  EXPECT_EQ(schedule_table(recording, simulate_ideal(recording, nullptr)),
            R"(A: run 0-1 lock@1 broadcast@1 end@1
B: cancel@0 end@0
W: run 0-2 lock@2 cwait@2 unlock@2 run 2-3 end@3
)");
}

TEST_F(Recorded, ACallThatFailedChangesNothing) {
  Recording recording = recorded(R"(
thread A
  run f 1
  lock M
  run f 1
thread B
  run f 2
  lock M
)");
  recording.threads[0].events[1].outcome = Outcome::failed;
  EXPECT_EQ(table(recording), R"(A: run 0-1 lock@1 run 1-2 end@2
B: run 0-2 lock@2 end@2
)");
}

TEST_F(Recorded, ACallThatDidNotReturnIsNoDeadlock) {
  Recording recording = recorded(R"(
thread A
  lock M
  barrier B 2
thread D
  run f 1
  barrier B 2
  lock M
  run f 1
thread E
  run f 9
)");
  // A arrived at the barrier, and the program was over before it came back.
  recording.threads[0].events.resize(2);
  recording.threads[0].events[1].outcome = Outcome::unfinished;
  EXPECT_EQ(table(recording), R"(A: lock@0 barrier@0
D: run 0-1 barrier@1 lock@1 run 1-2 end@2
E: run 0-9 end@9
)");
}

TEST_F(Recorded, CancellingEndsACallThatDidNotReturn) {
  Recording recording = recorded(R"(
thread A
  wait S
thread B
  run f 2
  cancel A
  join A
  run f 1
)");
  recording.threads[0].events[0].outcome = Outcome::unfinished;
  EXPECT_EQ(table(recording), R"(A: wait@0 end@2
B: run 0-2 cancel@2 join@2 run 2-3 end@3
)");
}

TEST_F(Recorded, CancellingChangesNothingWhereTheCallReturned) {
  EXPECT_EQ(table(recorded(R"(
thread A
  sleep 3
thread B
  run f 2
  cancel A
)")),
            R"(A: sleep@0 sleep 0~3 end@3
B: run 0-2 cancel@2 end@2
)");
}

TEST_F(Recorded, AThreadWhoseRecordingEndsEarlyIsOver) {
  Recording recording = recorded(R"(
thread A
  run f 1
  yield
thread B
  join A
)");
  recording.threads[0].events.pop_back();
  EXPECT_EQ(table(recording), R"(A: run 0-1 yield@1
B: join@0 end@1
)");
}

// Main had seen that they were done before it took M. D is not waited for, and has M after Main.
constexpr const char* joins_with_a_lock = R"(
thread Main
  lock M
  join A
  join B
  run f 1
  unlock M
thread A
  run f 2
  lock M
  run f 1
  unlock M
thread B
  run f 1
  lock M
  run f 3
  unlock M
thread D
  run f 1
  lock M
  run f 1
  unlock M
)";

TEST_F(Recorded, WhoIsJoinedHasTheLocksOfTheOneThatJoins) {
  EXPECT_EQ(table(recorded(joins_with_a_lock)),
            R"(Main: lock@0 join@0 join@3 run 6-7 unlock@7 end@7
A: run 0-2 lock@2 run 2-3 unlock@3 end@3
B: run 0-1 lock@1 run 3-6 unlock@6 end@6
D: run 0-1 lock@1 run 7-8 unlock@8 end@8
)");
}

TEST_F(Recorded, AProgramThatNobodyRanStandsStillThere) {
  const Schedule schedule = simulate_ideal(*read_program(joins_with_a_lock, "test"));
  ASSERT_TRUE(schedule.deadlock.has_value());
  EXPECT_EQ(schedule.deadlock->threads.size(), 4U);
}

// B has to come first, for A waits for it, and Main for A.
TEST_F(Recorded, WhoHoldsUpTheJoinedOneHasThemToo) {
  EXPECT_EQ(table(recorded(R"(
thread Main
  lock M
  join A
  unlock M
thread A
  run f 1
  lock N
  unlock N
thread B
  lock N
  run f 2
  lock M
  run f 1
  unlock M
  unlock N
)")),
            R"(Main: lock@0 join@0 unlock@3 end@3
A: run 0-1 lock@1 unlock@3 end@3
B: lock@0 run 0-2 lock@2 run 2-3 unlock@3 unlock@3 end@3
)");
}

TEST_F(Recorded, WhoIsJoinedTakesBackAMutexThatTheOneThatJoinsHas) {
  EXPECT_EQ(table(recorded(R"(
thread A
  lock M
  cwait C M
  run f 1
  unlock M
  lock N
  run f 1
  unlock N
thread B
  lock N
  run f 4
  unlock N
thread Main
  run f 1
  lock M
  signal C
  join A
  unlock M
)")),
            R"(A: lock@0 cwait@0 run 1-2 unlock@2 lock@2 run 4-5 unlock@5 end@5
B: lock@0 run 0-4 unlock@4 end@4
Main: run 0-1 lock@1 signal@1 join@1 unlock@5 end@5
)");
}

TEST(ConditionCounts, AreThoseOfTheRunOnOneCpu) {
  const Recording recording = with_known_condition_counts(*read_program(R"(
thread A
  lock M
  cwait C M
  unlock M
thread B
  lock M
  cwait C M
  unlock M
thread D
  signal C
  lock M
  broadcast C
  broadcast C
  unlock M
)",
                                                                        "test"));
  const std::vector<Event>& events = recording.threads[2].events;
  EXPECT_EQ(events[0].other, 1U);
  EXPECT_EQ(events[2].other, 1U);
  EXPECT_EQ(events[3].other, 0U);
}

TEST(ConditionCounts, ARecordingPassesThroughUnchanged) {
  Recording recording = *read_program(R"(
thread A
  signal C
)",
                                      "test");
  recording.threads[0].events[0].other = 3;
  EXPECT_EQ(with_known_condition_counts(recording), recording);
}

}  // namespace
}  // namespace longpole::simulation
