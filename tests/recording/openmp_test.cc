// Programs that use OpenMP on LLVM's libomp, from records made by hand; whole recordings of them are in whole_recordings_test.cc.
#include <gmock/gmock.h>

#include "hand_made_run.h"

namespace longpole::recording {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t team_barrier = 0x200000000000070;
constexpr std::uint64_t token = 0x200000000000080;

TEST(MergeOpenMP, AThreadThatWaitsForItsTeamBurnsTimeThatCountsForNothing) {
  HandMadeRun run;
  run.spool.sample(3000, 100, {1});
  run.spool.exit(9000, 100);
  RecordFields wait = returns(LONGPOLE_TEAM_WAIT, 2000, token);
  wait.site = 0x7000;
  run.events.add_thread(
      0, 100,
      {begins(LONGPOLE_TEAM_WAIT, 1000, 0), wait,
       begins(LONGPOLE_TEAM_BARRIER, 2500, team_barrier, 4),
       returns(LONGPOLE_TEAM_BARRIER, 6000, team_barrier), call(LONGPOLE_TEAM_WAIT, 6000, token),
       begins(LONGPOLE_TEAM_LOCK, 6500, lock_address),
       returns(LONGPOLE_TEAM_LOCK, 7000, lock_address),
       call(LONGPOLE_MUTEX_UNLOCK, 7500, lock_address), call(LONGPOLE_THREAD_END, 8000)});
  const MergedRun merged = *run.merge();
  EXPECT_THAT(describe(merged), ElementsAre("0 1000 wait 0 cpu=1000 took=1000",
                                            "0 2500 barrier 1 4 cpu=500 took=3500",
                                            "0 6000 wait 0 cpu=0", "0 6500 lock 2 cpu=500 took=500",
                                            "0 7500 unlock 2 cpu=500", "0 8000 end cpu=1500"));
  EXPECT_THAT(merged.threads.at(0).samples, testing::IsEmpty());
  EXPECT_EQ(merged.sites.at(merged.threads[0].sites.at(0)).address, 0x7000U);
}

TEST(MergeOpenMP, AThreadThatNeverHadATeamDoesNotWait) {
  HandMadeRun run;
  run.spool.exit(90'000, 100);
  run.events.add_thread(
      0, 100,
      {begins(LONGPOLE_TEAM_WAIT, 1000, 0), returns(LONGPOLE_TEAM_WAIT, 80'000, 0),
       call(LONGPOLE_THREAD_END, 80'000)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 1000 external cpu=1000", "0 80000 end cpu=10000"));
}

TEST(MergeOpenMP, ATaskIsDoneBeforeItsThreadArrivesAtTheBarrier) {
  HandMadeRun run;
  run.spool.exit(9000, 100);
  run.events.add_thread(
      0, 100,
      {begins(LONGPOLE_TEAM_BARRIER, 1000, team_barrier, 4), begins(LONGPOLE_TASK, 2000, 0),
       begins(LONGPOLE_TEAM_LOCK, 2500, lock_address),
       returns(LONGPOLE_TEAM_LOCK, 2500, lock_address),
       call(LONGPOLE_MUTEX_UNLOCK, 2750, lock_address), returns(LONGPOLE_TASK, 3000, 0),
       begins(LONGPOLE_TASK, 4000, 0), returns(LONGPOLE_TASK, 4500, 0),
       returns(LONGPOLE_TEAM_BARRIER, 6000, team_barrier), call(LONGPOLE_THREAD_END, 8000)});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 2500 lock 1 cpu=1500", "0 2750 unlock 1 cpu=250",
                          "0 4500 barrier 0 4 cpu=750 took=1500", "0 8000 end cpu=3000"));
}

TEST(MergeOpenMP, WhatItsLibraryDoesWithLocksIsNoneOfTheProgramsBusiness) {
  HandMadeRun run;
  run.control.runtime_begin = 0x5000;
  run.control.runtime_end = 0x6000;
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_MUTEX_LOCK, 1000, lock_address),
                         begins(LONGPOLE_CONDITION_WAIT, 1100, condition_address, lock_address),
                         returns(LONGPOLE_CONDITION_WAIT, 1200, condition_address, 0, lock_address),
                         call(LONGPOLE_MUTEX_UNLOCK, 1300, lock_address),
                         call(LONGPOLE_YIELD, 1400),
                         {LONGPOLE_MUTEX_LOCK, 1500, lock_address, 0x7000}});
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 1500 lock 0 cpu=1500", testing::HasSubstr(" end ")));
}

}  // namespace
}  // namespace longpole::recording
