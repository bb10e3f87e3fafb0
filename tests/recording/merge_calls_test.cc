// What becomes of each kind of call, from records made by hand.
#include <gmock/gmock.h>
#include <cerrno>

#include "hand_made_run.h"

namespace longpole::recording {
namespace {

using testing::Contains;
using testing::ElementsAre;

constexpr std::uint64_t rwlock_address = 0x4000;

TEST(MergeCalls, WhoWaitedForAReadWriteLockWasReleasedByTheLastToLetGo) {
  HandMadeRun run;
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_RWLOCK_READ, 10, rwlock_address),
                         call(LONGPOLE_RWLOCK_UNLOCK, 100, rwlock_address)});
  run.events.add_thread(1, 101,
                        {call(LONGPOLE_RWLOCK_READ, 20, rwlock_address),
                         call(LONGPOLE_RWLOCK_UNLOCK, 200, rwlock_address)});
  run.events.add_thread(2, 102,
                        {begins(LONGPOLE_RWLOCK_WRITE, 50, rwlock_address),
                         returns(LONGPOLE_RWLOCK_WRITE, 210, rwlock_address),
                         call(LONGPOLE_RWLOCK_UNLOCK, 300, rwlock_address)});
  run.events.add_thread(3, 103,
                        {begins(LONGPOLE_RWLOCK_READ, 220, rwlock_address),
                         returns(LONGPOLE_RWLOCK_READ, 310, rwlock_address),
                         call(LONGPOLE_RWLOCK_READ, 320, rwlock_address, EBUSY)});
  const std::vector<std::string> lines = describe(*run.merge());
  EXPECT_THAT(lines, Contains("2 50 wrlock 0 cpu=0 took=160 from=1"));
  EXPECT_THAT(lines, Contains("3 220 rdlock 0 cpu=0 took=90 from=2"));
  EXPECT_THAT(lines, Contains("3 320 rdlock 0 cpu=0 failed"));
}

TEST(MergeCalls, ATimedReadWriteLockThatWasNotGotIsATimeThatPasses) {
  HandMadeRun run;
  run.events.add_thread(0, 100,
                        {begins(LONGPOLE_RWLOCK_READ, 100, rwlock_address),
                         returns(LONGPOLE_RWLOCK_READ, 50'100, rwlock_address, ETIMEDOUT)});
  EXPECT_THAT(describe(*run.merge()), Contains("0 100 external cpu=100 took=50000"));
}

TEST(MergeCalls, SpinningForALockIsNoWork) {
  HandMadeRun run;
  run.spool.sample(500, 100, {1});
  run.spool.sample(4000, 100, {2});
  run.spool.exit(9000, 100);
  run.events.add_thread(
      0, 100,
      {begins(LONGPOLE_SPIN_LOCK, 1000, lock_address),
       returns(LONGPOLE_SPIN_LOCK, 6000, lock_address),
       call(LONGPOLE_MUTEX_UNLOCK, 7000, lock_address), call(LONGPOLE_THREAD_END, 8000)});
  const MergedRun merged = *run.merge();
  EXPECT_THAT(describe(merged), ElementsAre("0 1000 lock 0 cpu=1000 took=5000",
                                            "0 7000 unlock 0 cpu=1000", "0 8000 end cpu=2000"));
  EXPECT_EQ(merged.threads.at(0).samples.size(), 1U);
}

TEST(MergeCalls, ASleepLastsAsLongAsWasAskedForAndNotUntilACpuWasFree) {
  HandMadeRun run;
  run.events.add_thread(
      0, 100,
      {begins(LONGPOLE_SLEEP, 1000, 100'000), returns(LONGPOLE_SLEEP, 900'000, 100'000),
       begins(LONGPOLE_SLEEP, 910'000, 100'000), returns(LONGPOLE_SLEEP, 920'000, 100'000),
       call(LONGPOLE_YIELD, 930'000)});
  const std::vector<std::string> lines = describe(*run.merge());
  EXPECT_THAT(lines, Contains("0 1000 sleep cpu=1000 took=160000"));
  EXPECT_THAT(lines, Contains("0 910000 sleep cpu=909000 took=10000"));
  EXPECT_THAT(lines, Contains("0 930000 yield cpu=20000"));
}

TEST(MergeCalls, ACancellationNamesItsThread) {
  HandMadeRun run;
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_CREATE, 10, 1), call(LONGPOLE_CANCEL, 50, 0x77),
                         call(LONGPOLE_CANCEL, 60, 0x99)});
  run.events.add_thread(1, 101, {call(LONGPOLE_THREAD_END, 90)}, 0x9000, 0x77);
  const std::vector<std::string> lines = describe(*run.merge());
  EXPECT_THAT(lines, Contains("0 50 cancel 1 cpu=40"));
  EXPECT_THAT(lines, Contains("0 60 cancel cpu=10 failed")) << "a thread that nobody knows";
}

TEST(MergeCalls, ACancelledWaitForAConditionGaveItsMutexUp) {
  HandMadeRun run;
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_MUTEX_LOCK, 10, lock_address),
                         begins(LONGPOLE_CONDITION_WAIT, 20, condition_address, lock_address),
                         call(LONGPOLE_MUTEX_UNLOCK, 500, lock_address)});
  EXPECT_THAT(describe(*run.merge()), Contains(testing::HasSubstr("ctimedwait 1 0")));
}

}  // namespace
}  // namespace longpole::recording
