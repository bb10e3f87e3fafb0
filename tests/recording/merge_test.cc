// What the recorder and the kernel said, by hand, and the events that must come of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <cerrno>

#include "hand_made_run.h"

namespace longpole::recording {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Merge, CpuTimeIsWhatTheThreadHadOnTheCpuBetweenItsCalls) {
  HandMadeRun run;
  run.spool.out(1000, 100, true);
  run.spool.in(5000, 100);
  run.spool.exit(9000, 100);
  run.events.add_thread(
      0, 100,
      {call(LONGPOLE_MUTEX_LOCK, 400, lock_address),
       call(LONGPOLE_MUTEX_UNLOCK, 6000, lock_address), call(LONGPOLE_THREAD_END, 8000)});
  EXPECT_THAT(
      describe(*run.merge()),
      ElementsAre("0 400 lock 0 cpu=400", "0 6000 unlock 0 cpu=1600", "0 8000 end cpu=3000"));
}

TEST(Merge, TimeOnTheCpuInsideABlockingCallCountsForWhatFollows) {
  HandMadeRun run;
  run.spool.out(1200, 100);
  run.spool.in(5000, 100);
  run.spool.exit(9000, 100);
  run.events.add_thread(
      0, 100,
      {begins(LONGPOLE_SEMAPHORE_WAIT, 1000, lock_address),
       returns(LONGPOLE_SEMAPHORE_WAIT, 5100, lock_address),
       call(LONGPOLE_SEMAPHORE_POST, 6000, lock_address), call(LONGPOLE_THREAD_END, 9000)});
  EXPECT_THAT(describe(*run.merge()), ElementsAre("0 1000 wait 0 cpu=1000 took=4100",
                                                  "0 6000 post 0 cpu=1200", "0 9000 end cpu=3000"));
}

// glibc's broadcast waits for those that it woke last time, who wait for the CPU.
TEST(Merge, WhatABroadcastSleepsForWantOfACpuIsNoWait) {
  HandMadeRun run;
  run.spool.out(103'000, 100);
  run.spool.in(250'000, 100);
  run.spool.out(300'000, 100);
  run.spool.in(340'000, 100);
  run.spool.exit(400'000, 100);
  run.events.add_thread(
      0, 100,
      {call(LONGPOLE_CONDITION_BROADCAST, 100'000, lock_address),
       call(LONGPOLE_CONDITION_SIGNAL, 260'000, lock_address), call(LONGPOLE_THREAD_END, 390'000)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 100000 broadcast 0 0 cpu=100000", "0 260000 signal 0 0 cpu=13000",
                          "0 300000 external cpu=40000 took=40000", "0 390000 end cpu=60000"));
}

// A library's constructor may have started one that records before main.
TEST(Merge, TheMainThreadIsTheFirstWhateverItsNumber) {
  HandMadeRun run;
  run.result.kernel_source = false;
  run.events.add_thread(0, 101, {call(LONGPOLE_MUTEX_LOCK, 500, lock_address)});
  run.events.add_thread(1, 100, {call(LONGPOLE_MUTEX_UNLOCK, 1000, lock_address)});
  const auto merged = run.merge();
  ASSERT_EQ(merged->threads.size(), 2U);
  EXPECT_TRUE(merged->threads[0].is_main);
  EXPECT_FALSE(merged->threads[1].is_main);
}

TEST(Merge, TheCostOfTheRecordsIsTakenOutAndNeverMoreThanThereIs) {
  HandMadeRun run;
  run.control.cost_ps = 100'000;
  run.spool.exit(2000, 100);
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_MUTEX_LOCK, 1000, lock_address),
                         call(LONGPOLE_MUTEX_UNLOCK, 1030, lock_address),
                         call(LONGPOLE_MUTEX_LOCK, 1500, lock_address)});
  // 70 of the second record's 100 ns do not fit into its 30; the third pays for them.
  EXPECT_THAT(describe(*run.merge()), ElementsAre("0 1000 lock 0 cpu=900", "0 1030 unlock 0 cpu=0",
                                                  "0 1500 lock 0 cpu=300", "0 2000 end cpu=500"));
}

TEST(Merge, TheCostOfAWaitIsTakenOutBehindIt) {
  HandMadeRun run;
  run.control.cost_ps = 100'000;
  run.control.wait_cost_ps = 1'000'000;
  run.control.interruptible_cost_ps = 500'000;
  run.spool.exit(60'000, 100);
  run.events.add_thread(0, 100,
                        {begins(LONGPOLE_SEMAPHORE_TIMEDWAIT, 10'000, 0x3000),
                         returns(LONGPOLE_SEMAPHORE_TIMEDWAIT, 20'000, 0x3000),
                         begins(LONGPOLE_MUTEX_LOCK, 30'000, lock_address),
                         returns(LONGPOLE_MUTEX_LOCK, 40'000, lock_address),
                         call(LONGPOLE_MUTEX_UNLOCK, 50'000, lock_address)});
  EXPECT_THAT(
      describe(*run.merge()),
      ElementsAre("0 10000 timedwait 0 cpu=10000 took=10000", "0 30000 lock 1 cpu=18500 took=10000",
                  "0 50000 unlock 1 cpu=18900", "0 60000 end cpu=10000"));
}

// The other thread is counted in the semaphore until it has its unit.
TEST(Merge, TheCostOfAPostForWhichSomebodyWaitsIsTakenOutBehindIt) {
  constexpr std::uint64_t semaphore = 0x3000;
  HandMadeRun run;
  run.control.cost_ps = 100'000;
  run.control.kernel_entry_cost_ps = 700'000;
  run.spool.fork(500, 101, 100);
  run.spool.out(10'000, 100);
  run.spool.in(10'000, 101);
  run.spool.out(20'000, 101);
  run.spool.in(20'000, 100);
  run.spool.out(50'000, 100);
  run.spool.in(50'000, 101);
  run.spool.exit(70'000, 101);
  run.spool.in(70'000, 100);
  run.spool.exit(90'000, 100);
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_CREATE, 400, 1), call(LONGPOLE_SEMAPHORE_POST, 1400, 0x4000),
                         call(LONGPOLE_SEMAPHORE_POST, 21'400, semaphore),
                         call(LONGPOLE_SEMAPHORE_POST, 22'400, semaphore),
                         call(LONGPOLE_SEMAPHORE_POST, 23'400, 0x4000),
                         call(LONGPOLE_MUTEX_LOCK, 24'400, lock_address),
                         call(LONGPOLE_SEMAPHORE_POST, 71'400, semaphore),
                         call(LONGPOLE_MUTEX_UNLOCK, 72'400, lock_address)});
  run.events.add_thread(
      1, 101,
      {call(LONGPOLE_THREAD_START, 10'000), begins(LONGPOLE_SEMAPHORE_WAIT, 15'000, semaphore),
       returns(LONGPOLE_SEMAPHORE_WAIT, 51'000, semaphore), call(LONGPOLE_THREAD_END, 70'000)});
  std::vector<std::int64_t> cpu;
  const MergedRun merged = *run.merge();
  for (const Event& event : merged.threads[0].events)
    cpu.push_back(event.cpu.count());
  EXPECT_THAT(cpu, ElementsAre(300, 900, 9900, 200, 200, 900, 26'900, 900, 17'600));
}

// Each of its changes of threads took 30 ns to write down, each of its events 20.
TEST(Merge, TheCostOfAnEventHasThatOfTheChangesOfThreadsThatComeWithIt) {
  HandMadeRun run;
  run.control.cost_ps = 20'000;
  run.result.costs.sleep_ns = 30;
  std::vector<RecordFields> calls;
  for (std::int64_t i = 0; i < 1000; ++i) {
    run.spool.out(100 + i * 900, 100);
    run.spool.in(200 + i * 900, 100);
    if (i < 99)
      calls.push_back(
          call(LONGPOLE_MUTEX_LOCK, static_cast<std::uint64_t>(250 + i * 900), lock_address));
  }
  run.spool.exit(900'000, 100);
  calls.push_back(call(LONGPOLE_THREAD_END, 900'000));
  run.events.add_thread(0, 100, calls);
  const MergedRun merged = *run.merge();
  const auto events = static_cast<std::int64_t>(merged.threads[0].events.size());
  EXPECT_GT(1001 * 30 / events, 200);
  EXPECT_NEAR(static_cast<double>(merged.run.cost_per_event.count()),
              20 + 1001 * 30.0 / static_cast<double>(events), 1);
}

TEST(Merge, ARecordingHasWhatChangesOfThreadsTookWhileItWasMade) {
  HandMadeRun run;
  run.result.changes.context_switch = Nanoseconds{700};
  run.result.changes.block = Nanoseconds{1300};
  run.result.changes.release = Nanoseconds{1400};
  run.spool.exit(900'000, 100);
  run.events.add_thread(0, 100, {call(LONGPOLE_THREAD_END, 900'000)});
  const MergedRun merged = *run.merge();
  EXPECT_EQ(merged.run.costs.context_switch, Nanoseconds{700});
  EXPECT_EQ(merged.run.costs.block, Nanoseconds{1300});
  EXPECT_EQ(merged.run.costs.release, Nanoseconds{1400});
  EXPECT_EQ(merged.run.costs.wake_up, Nanoseconds{0});
}

// Not in it: what was measured each time.
TEST(Merge, TheCostOfAnEventIsWhatWasTakenOutOfTheProgramsTime) {
  HandMadeRun run;
  run.control.cost_ps = 20'000;
  run.control.exposed_ps = 30'000;
  run.control.exposed_times = 3;
  run.spool.exit(5000, 100);
  run.events.add_thread(0, 100,
                        {{LONGPOLE_OVERHEAD, 400, 250},
                         call(LONGPOLE_MUTEX_LOCK, 1000, lock_address),
                         call(LONGPOLE_MUTEX_UNLOCK, 2000, lock_address),
                         call(LONGPOLE_MUTEX_LOCK, 3000, lock_address),
                         call(LONGPOLE_MUTEX_UNLOCK, 4000, lock_address),
                         call(LONGPOLE_THREAD_END, 5000)});
  const MergedRun merged = *run.merge();
  ASSERT_EQ(merged.threads[0].events.size(), 5);
  const std::int64_t taken_out = 20 + 3 * 30 + 20;
  EXPECT_EQ(merged.threads[0].recording_ns, taken_out);
  EXPECT_EQ(merged.run.cost_per_event, Nanoseconds{taken_out / 5});
}

TEST(Merge, ThreadsAreJoinedByTheirHandleAlsoWhenItIsUsedAgain) {
  HandMadeRun run;
  run.spool.fork(100, 101, 100);
  run.spool.fork(400, 102, 100);
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_CREATE, 90, 1), begins(LONGPOLE_JOIN, 200, 0x77),
                         returns(LONGPOLE_JOIN, 300, 0x77), call(LONGPOLE_CREATE, 390, 2),
                         begins(LONGPOLE_JOIN, 500, 0x77), returns(LONGPOLE_JOIN, 700, 0x77),
                         call(LONGPOLE_THREAD_END, 900)});
  run.spool.out(200, 100);
  run.spool.in(200, 101);
  run.spool.exit(290, 101);
  run.spool.in(290, 100);
  run.spool.out(500, 100);
  run.spool.in(500, 102);
  run.spool.exit(690, 102);
  run.spool.in(690, 100);
  run.spool.exit(900, 100);
  run.events.add_thread(1, 101, {call(LONGPOLE_THREAD_START, 210), call(LONGPOLE_THREAD_END, 280)},
                        0x9000, 0x77);
  run.events.add_thread(2, 102, {call(LONGPOLE_THREAD_START, 510), call(LONGPOLE_THREAD_END, 680)},
                        0x9000, 0x77);
  const MergedRun merged = *run.merge();
  EXPECT_THAT(describe(merged),
              ElementsAre("0 90 create 1 cpu=90", "0 200 join 1 cpu=110 took=100 from=1",
                          "0 390 create 2 cpu=100", "0 500 join 2 cpu=110 took=200 from=2",
                          "0 900 end cpu=210", "1 280 end cpu=90", "2 680 end cpu=190"));
  EXPECT_EQ(merged.threads[2].creator, ThreadId{0});
  EXPECT_TRUE(merged.threads[0].is_main);
}

TEST(Merge, OutcomesComeFromTheResultsOfTheCalls) {
  HandMadeRun run;
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_MUTEX_TRYLOCK, 10, lock_address, EBUSY),
                         call(LONGPOLE_MUTEX_LOCK, 20, lock_address, EOWNERDEAD),
                         call(LONGPOLE_MUTEX_LOCK, 30, lock_address, EDEADLK),
                         call(LONGPOLE_SEMAPHORE_TRYWAIT, 40, 0x3000, EAGAIN),
                         begins(LONGPOLE_MUTEX_TIMEDLOCK, 50, lock_address),
                         returns(LONGPOLE_MUTEX_TIMEDLOCK, 90, lock_address, ETIMEDOUT),
                         call(LONGPOLE_CREATE, 95, 7, EAGAIN), call(LONGPOLE_JOIN, 97, 0x123, 3)});
  run.spool.exit(100, 100);
  EXPECT_THAT(
      describe(*run.merge()),
      ElementsAre("0 10 trylock 0 cpu=10 busy", "0 20 lock 0 cpu=10", "0 30 lock 0 cpu=10 failed",
                  "0 40 trywait 1 cpu=10 busy", "0 50 timedlock 0 cpu=10 took=40 timeout",
                  "0 95 create cpu=45 failed", "0 97 join cpu=2 failed", "0 100 end cpu=3"));
}

TEST(Merge, ACallThatNeverReturnedIsUnfinished) {
  HandMadeRun run;
  run.spool.out(1010, 100);
  run.result.exit_status.reset();
  run.result.exit_signal = 9;
  run.events.add_thread(0, 100, {begins(LONGPOLE_MUTEX_LOCK, 1000, lock_address)});
  const MergedRun merged = *run.merge();
  EXPECT_THAT(describe(merged),
              ElementsAre("0 1000 lock 0 cpu=1000 unfinished", "0 1000000 end cpu=10"));
  EXPECT_FALSE(merged.run.complete);
  EXPECT_THAT(notice_codes(merged), ElementsAre("cut-short", "no-threads-created"));
}

TEST(Merge, ACancelledWaitIsATimeThatPasses) {
  HandMadeRun run;
  run.spool.out(1010, 100);
  run.spool.in(50'000, 100);
  run.spool.exit(60'000, 100);
  run.events.add_thread(
      0, 100,
      {begins(LONGPOLE_SEMAPHORE_WAIT, 1000, lock_address), call(LONGPOLE_THREAD_END, 59'000)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 1000 external cpu=1000 took=48990", "0 59000 end cpu=10010"));
}

TEST(Merge, AWaitThatFailedKeepsItsTime) {
  HandMadeRun run;
  run.spool.out(1000, 100);
  run.spool.in(50'000, 100);
  run.spool.exit(60'000, 100);
  run.events.add_thread(0, 100,
                        {begins(LONGPOLE_SEMAPHORE_WAIT, 1000, lock_address),
                         returns(LONGPOLE_SEMAPHORE_WAIT, 50'000, lock_address, EINTR)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 1000 external cpu=1000 took=49000", "0 60000 end cpu=10000"));
}

TEST(Merge, SleepingOutsideRecordedCallsIsAnExternalWait) {
  HandMadeRun run;
  run.spool.out(100'000, 100);
  run.spool.in(400'000, 100);
  run.spool.exit(600'000, 100);
  run.events.add_thread(0, 100, {call(LONGPOLE_MUTEX_LOCK, 500'000, lock_address)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 100000 external cpu=100000 took=300000", "0 500000 lock 0 cpu=100000",
                          "0 600000 end cpu=100000"));
}

TEST(Merge, ShortSleepsCountTogether) {
  HandMadeRun run;
  for (std::int64_t i = 1; i <= 5; ++i) {
    run.spool.out(i * 100'000, 100);
    run.spool.in(i * 100'000 + 9'000, 100);
  }
  run.spool.exit(600'000, 100);
  run.events.add_thread(0, 100, {call(LONGPOLE_MUTEX_LOCK, 550'000, lock_address)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 300000 external cpu=282000 took=27000", "0 550000 lock 0 cpu=223000",
                          "0 600000 end cpu=50000"));
}

TEST(Merge, SignalsAndBroadcastsSayHowManyTheyWoke) {
  HandMadeRun run;
  run.spool.fork(10, 101, 100);
  run.spool.fork(11, 102, 100);
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_CREATE, 9, 1), call(LONGPOLE_CREATE, 10, 2),
                         call(LONGPOLE_CONDITION_SIGNAL, 50, condition_address),
                         call(LONGPOLE_CONDITION_SIGNAL, 500, condition_address),
                         call(LONGPOLE_CONDITION_BROADCAST, 900, condition_address),
                         call(LONGPOLE_CONDITION_BROADCAST, 990, condition_address)});
  run.events.add_thread(
      1, 101,
      {begins(LONGPOLE_CONDITION_WAIT, 100, condition_address, lock_address),
       returns(LONGPOLE_CONDITION_WAIT, 950, condition_address, 0, lock_address)});
  run.events.add_thread(
      2, 102,
      {begins(LONGPOLE_CONDITION_WAIT, 200, condition_address, lock_address),
       returns(LONGPOLE_CONDITION_WAIT, 600, condition_address, 0, lock_address),
       begins(LONGPOLE_CONDITION_WAIT, 700, condition_address, lock_address),
       returns(LONGPOLE_CONDITION_WAIT, 980, condition_address, 0, lock_address)});
  const std::vector<std::string> lines = describe(*run.merge());
  EXPECT_THAT(lines, testing::Contains("0 50 signal 0 0 cpu=40"));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("0 500 signal 0 1 ")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("0 900 broadcast 0 2 ")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("0 990 broadcast 0 0 ")));
  EXPECT_THAT(lines, testing::Contains("1 100 cwait 0 1 cpu=0 took=850 from=0"));
  EXPECT_THAT(lines, testing::Contains("2 200 cwait 0 1 cpu=0 took=400 from=0"));
}

TEST(Merge, ALockIsHandedOverByWhoeverReleasedItLast) {
  HandMadeRun run;
  run.spool.fork(10, 101, 100);
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_CREATE, 9, 1), call(LONGPOLE_MUTEX_LOCK, 20, lock_address),
                         call(LONGPOLE_MUTEX_UNLOCK, 300, lock_address)});
  run.events.add_thread(1, 101,
                        {begins(LONGPOLE_MUTEX_LOCK, 100, lock_address),
                         returns(LONGPOLE_MUTEX_LOCK, 310, lock_address),
                         call(LONGPOLE_MUTEX_UNLOCK, 320, lock_address)});
  EXPECT_THAT(describe(*run.merge()), testing::Contains("1 100 lock 0 cpu=0 took=210 from=0"));
}

TEST(Merge, PostsAreTakenInOrderAfterTheInitialValue) {
  HandMadeRun run;
  run.spool.fork(10, 101, 100);
  run.events.add_thread(0, 100,
                        {{LONGPOLE_SEMAPHORE_INIT, 5, 0x3000, 0x50, 0, 0, 1},
                         call(LONGPOLE_CREATE, 9, 1),
                         call(LONGPOLE_SEMAPHORE_POST, 400, 0x3000)});
  run.events.add_thread(
      1, 101,
      {call(LONGPOLE_SEMAPHORE_WAIT, 50, 0x3000), begins(LONGPOLE_SEMAPHORE_WAIT, 100, 0x3000),
       returns(LONGPOLE_SEMAPHORE_WAIT, 410, 0x3000)});
  const MergedRun merged = *run.merge();
  EXPECT_THAT(describe(merged), testing::Contains("1 100 wait 0 cpu=0 took=310 from=0"));
  EXPECT_EQ(merged.objects.at(0).initial, 1U);
  EXPECT_EQ(merged.sites.at(merged.objects[0].first_site).address, 0x50U);
}

TEST(Merge, ASemaphoreOfUnknownValueHadWhatWasTakenFromIt) {
  HandMadeRun run;
  run.events.add_thread(
      0, 100,
      {call(LONGPOLE_SEMAPHORE_WAIT, 10, 0x3000), call(LONGPOLE_SEMAPHORE_WAIT, 20, 0x3000),
       call(LONGPOLE_SEMAPHORE_POST, 30, 0x3000), call(LONGPOLE_SEMAPHORE_WAIT, 40, 0x3000)});
  EXPECT_EQ(run.merge()->objects.at(0).initial, 2U);
}

TEST(Merge, AnAddressInitializedAgainIsAnotherObject) {
  HandMadeRun run;
  run.events.add_thread(0, 100,
                        {{LONGPOLE_BARRIER_INIT, 5, 0x3000, 0x50, 0, 0, 1},
                         call(LONGPOLE_BARRIER_WAIT, 10, 0x3000),
                         {LONGPOLE_BARRIER_INIT, 15, 0x3000, 0x60, 0, 0, 3},
                         call(LONGPOLE_BARRIER_WAIT, 20, 0x3000)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 10 barrier 0 1 cpu=10", "0 20 barrier 1 3 cpu=10",
                          "0 1000000 end cpu=999980"));
}

TEST(Merge, ThreadsThatTheRecorderNeverSawStandBesideTheOthers) {
  HandMadeRun run;
  run.spool.fork(1000, 105, 100);
  run.spool.out(2000, 100, true);
  run.spool.in(2000, 105);
  run.spool.exit(5000, 105);
  run.spool.in(5000, 100);
  run.spool.exit(6000, 100);
  run.events.add_thread(0, 100, {call(LONGPOLE_THREAD_END, 6000)});
  EXPECT_THAT(
      describe(*run.merge()),
      ElementsAre("0 6000 end cpu=3000", "1 0 external cpu=0 took=1000", "1 5000 end cpu=3000"));
}

TEST(Merge, AThreadThatNeverGotToRunEndsWithTheProgram) {
  HandMadeRun run;
  run.events.add_thread(0, 100, {call(LONGPOLE_CREATE, 50, 1), call(LONGPOLE_THREAD_END, 60)});
  run.spool.exit(70, 100);
  run.events.add_thread(1, 0, {}, 0x9000, 0x77);
  const MergedRun merged = *run.merge();
  EXPECT_THAT(describe(merged),
              ElementsAre("0 50 create 1 cpu=50", "0 60 end cpu=20", "1 1000000 end cpu=0"));
}

TEST(Merge, CallsOnTheWayOutComeBeforeTheEnd) {
  HandMadeRun run;
  run.spool.exit(500, 100);
  run.events.add_thread(
      0, 100, {call(LONGPOLE_THREAD_END, 100), call(LONGPOLE_MUTEX_LOCK, 200, lock_address)});
  EXPECT_THAT(describe(*run.merge()), ElementsAre("0 200 lock 0 cpu=200", "0 500 end cpu=300"));
}

TEST(Merge, TheProgramEndsWhereAThreadCallsExit) {
  HandMadeRun run;
  run.spool.exit(500, 100);
  run.events.add_thread(
      0, 100, {call(LONGPOLE_MUTEX_LOCK, 200, lock_address), call(LONGPOLE_THREAD_END, 400, 1)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 200 lock 0 cpu=200", "0 400 exit cpu=300", "0 400 end cpu=0"));
}

TEST(Merge, SamplesBelongToTheStretchTheyWereTakenIn) {
  HandMadeRun run;
  run.spool.sample(50, 100, {1});
  run.spool.sample(150, 100, {2});
  run.spool.sample(160, 100, {1});
  run.spool.exit(300, 100);
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_MUTEX_LOCK, 100, lock_address),
                         call(LONGPOLE_MUTEX_UNLOCK, 200, lock_address)});
  const MergedRun merged = *run.merge();
  std::vector<std::string> samples;
  for (const MergedSample& sample : merged.threads.at(0).samples)
    samples.push_back(fmt::format("{}: {}", sample.event, merged.paths.at(sample.path).front()));
  EXPECT_THAT(samples, ElementsAre("0: 1", "1: 2", "1: 1"));
  EXPECT_EQ(merged.run.samples, 3U);
}

TEST(Merge, CallPathsOfCreateAndJoinCarryTheirCandidates) {
  HandMadeRun run;
  run.events.add_thread(0, 100,
                        {{LONGPOLE_FRAMES, 5, 0x61, 0, 0, 0, 0x62},
                         {LONGPOLE_FRAMES, 5, 0x63, 0, 0, 0, 0},
                         call(LONGPOLE_CREATE, 9, 1),
                         call(LONGPOLE_MUTEX_LOCK, 20, lock_address)});
  const MergedRun merged = *run.merge();
  const CallSite& site = merged.sites.at(merged.threads.at(0).sites.at(0));
  EXPECT_EQ(site.address, 0x5000U + LONGPOLE_CREATE);
  EXPECT_THAT(site.candidates, ElementsAre(0x61, 0x62, 0x63));
  EXPECT_THAT(merged.sites.at(merged.threads[0].sites.at(1)).candidates, IsEmpty());
}

TEST(Merge, ARecorderThatNeverSpokeIsAFailureWithAReason) {
  HandMadeRun run;
  run.control.pid = 0;
  const auto merged = run.merge();
  ASSERT_FALSE(merged.has_value());
  EXPECT_EQ(merged.error().kind, ErrorKind::failure);
  EXPECT_THAT(merged.error().text(), HasSubstr("the recorder was not loaded into it"));
  run.control.version = LONGPOLE_RAW_VERSION + 1;
  EXPECT_THAT(run.merge().error().text(), HasSubstr("the recorder writes version"));
}

}  // namespace
}  // namespace longpole::recording
