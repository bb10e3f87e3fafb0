// What becomes of each kind of call, from records made by hand.
#include <gmock/gmock.h>
#include <array>
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
  EXPECT_THAT(describe(merged), ElementsAre("0 1000 lock 0 1 cpu=1000 took=5000",
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

TEST(MergeCalls, WhatAThreadSleepsInInputAndOutputHasTheLineOfTheCall) {
  HandMadeRun run;
  run.spool.out(20'100, 100);
  run.spool.in(70'000, 100);
  run.spool.out(100'000, 100);
  run.spool.in(200'000, 100);
  run.spool.exit(300'000, 100);
  run.events.add_thread(
      0, 100,
      {begins_io(LONGPOLE_IO_WRITES, 10'000, 3), returns(LONGPOLE_IO, 11'000, 100),
       begins_io(LONGPOLE_IO_READS, 20'000, 3), returns(LONGPOLE_IO, 80'000, 4096),
       call(LONGPOLE_MUTEX_LOCK, 90'000, lock_address), call(LONGPOLE_THREAD_END, 300'000)});
  const MergedRun merged = *run.merge();
  EXPECT_THAT(
      describe(merged),
      ElementsAre("0 10000 external 3 100 cpu=10000",
                  "0 20000 external 3 4096 cpu=10000 took=49900", "0 90000 lock 0 cpu=20100",
                  "0 100000 external cpu=10000 took=100000", "0 300000 end cpu=100000"));
  const std::vector<std::uint32_t>& sites = merged.threads.at(0).sites;
  ASSERT_NE(sites.at(1), no_site);
  EXPECT_EQ(merged.sites.at(sites[1]).address, 0x5000U + LONGPOLE_IO);
  EXPECT_EQ(sites.at(3), no_site) << "outside every call";
}

TEST(MergeCalls, AFutexOfTheProgramsOwnIsWarnedOf) {
  HandMadeRun run;
  run.events.add_thread(0, 100,
                        {begins(LONGPOLE_FUTEX_WAIT, 10, 0x70),
                         returns(LONGPOLE_FUTEX_WAIT, 20, 0x70), call(LONGPOLE_THREAD_END, 100)});
  const MergedRun merged = *run.merge();
  EXPECT_THAT(notice_codes(merged), Contains("dependencies-may-be-missing"));
  EXPECT_EQ(merged.notices.at(0).count, 1U);
}

TEST(MergeCalls, AFutexInsideARecordedWaitIsNone) {
  HandMadeRun run;
  run.events.add_thread(
      0, 100,
      {begins(LONGPOLE_SEMAPHORE_WAIT, 5, 0x70), call(LONGPOLE_YIELD, 7),
       begins(LONGPOLE_FUTEX_WAIT, 10, 0x70), returns(LONGPOLE_FUTEX_WAIT, 20, 0x70),
       returns(LONGPOLE_SEMAPHORE_WAIT, 25, 0x70), call(LONGPOLE_THREAD_END, 100)});
  const MergedRun merged = *run.merge();
  EXPECT_THAT(notice_codes(merged), testing::Not(Contains("dependencies-may-be-missing")));
  EXPECT_EQ(merged.threads.at(0).events.size(), 2U) << "nor is a yield there";
}

TEST(MergeCalls, ThreadsAreWhatTheProgramSaysLastOfThem) {
  HandMadeRun run;
  RecordFields name = call(LONGPOLE_THREAD_NAME, 30);
  constexpr std::array<char, 16> any_bytes{"Größe, 1\n"};
  std::memcpy(&name.object, any_bytes.data(), 8);
  std::memcpy(&name.site, &any_bytes[8], 8);
  name.other = 0x77;
  RecordFields bound = call(LONGPOLE_AFFINITY, 40, 101);
  bound.other = 3U | LONGPOLE_BY_THREAD_ID;
  RecordFields low = call(LONGPOLE_PRIORITY, 50, 0x77);
  low.other = static_cast<std::uint32_t>(-5);
  RecordFields of_nobody = call(LONGPOLE_PRIORITY, 60, 0x99);
  run.events.add_thread(0, 100, {call(LONGPOLE_CREATE, 10, 1), bound, name, low, of_nobody});
  run.events.add_thread(1, 101, {call(LONGPOLE_THREAD_END, 90)}, 0x9000, 0x77);
  const MergedRun merged = *run.merge();
  EXPECT_EQ(merged.threads.at(1).name, "Größe, 1\n");
  EXPECT_EQ(merged.threads[1].bound_to, 3U);
  EXPECT_EQ(merged.threads[1].priority, -5);
  EXPECT_FALSE(merged.threads[0].priority.has_value());
}

RecordFields enters(std::uint64_t tsc, std::uint64_t function, int depth) {
  return {LONGPOLE_FUNCTION_ENTER, tsc, function, 0x7000, 0, depth, 0};
}
RecordFields leaves(std::uint64_t tsc, std::uint64_t function, int depth) {
  return {LONGPOLE_FUNCTION_LEAVE, tsc, function, 0, 0, depth, 0};
}

TEST(MergeCalls, FunctionsThatAreNoLongerEnteredAreLeftWhereThatShows) {
  HandMadeRun run;
  run.control.function_cost_ps = 5000;
  run.spool.exit(900, 100);
  run.events.add_thread(
      0, 100,
      {enters(100, 0x10, 0), enters(200, 0x20, 1), enters(300, 0x30, 2),
       // 0x20 and 0x30 are left by longjmp.
       enters(400, 0x20, 1), leaves(500, 0x20, 1),
       // A leave of what was never seen to be entered.
       leaves(600, 0x40, 1), leaves(700, 0x10, 0), call(LONGPOLE_THREAD_END, 800)});
  const MergedRun merged = *run.merge();
  EXPECT_EQ(merged.functions, (std::vector<std::uint64_t>{0x10, 0x20, 0x30, 0x40}));
  EXPECT_THAT(describe(merged),
              ElementsAre("0 100 enter 0 cpu=95", "0 200 enter 1 cpu=95", "0 300 enter 2 cpu=95",
                          "0 400 leave 2 cpu=95", "0 400 leave 1 cpu=0", "0 400 enter 1 cpu=0",
                          "0 500 leave 1 cpu=95", "0 700 leave 0 cpu=190", "0 800 end cpu=200"));
}

TEST(MergeCalls, WhatRecordingTookInBetweenIsNoWork) {
  HandMadeRun run;
  run.spool.exit(900, 100);
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_MUTEX_LOCK, 100, lock_address),
                         {LONGPOLE_OVERHEAD, 400, 250},
                         call(LONGPOLE_MUTEX_UNLOCK, 500, lock_address),
                         call(LONGPOLE_THREAD_END, 900)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 100 lock 0 cpu=100", "0 500 unlock 0 cpu=150", "0 900 end cpu=400"));
}

// Nor is what it slept in between a wait of the program: records move to a file that others write, too.
TEST(MergeCalls, WhatRecordingSleptInBetweenIsNoWait) {
  HandMadeRun run;
  run.spool.out(50'000, 100);
  run.spool.in(90'000, 100);
  run.spool.out(200'000, 100);
  run.spool.in(300'000, 100);
  run.spool.exit(900'000, 100);
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_MUTEX_LOCK, 10'000, lock_address),
                         {LONGPOLE_OVERHEAD, 310'000, 120'000},
                         call(LONGPOLE_MUTEX_UNLOCK, 400'000, lock_address),
                         call(LONGPOLE_THREAD_END, 900'000)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 10000 lock 0 cpu=10000", "0 50000 external cpu=40000 took=40000",
                          "0 400000 unlock 0 cpu=190000", "0 900000 end cpu=500000"));
}

}  // namespace
}  // namespace longpole::recording
