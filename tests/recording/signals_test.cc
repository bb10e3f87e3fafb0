// Signals that end waits, and cancellations, from records made by hand: who woke whom.
#include <gmock/gmock.h>
#include <csignal>

#include "hand_made_run.h"

namespace longpole::recording {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t bit(int signal) {
  return std::uint64_t{1} << static_cast<unsigned>(signal - 1);
}

RecordFields sends(std::uint64_t tsc, int signal, std::uint64_t handle, int result = 0) {
  RecordFields fields = call(LONGPOLE_SIGNAL_SEND, tsc, handle, result);
  fields.other = static_cast<std::uint64_t>(signal);
  return fields;
}
RecordFields sends_to_process(std::uint64_t tsc, int signal) {
  RecordFields fields = sends(tsc, signal, 0);
  fields.other |= LONGPOLE_TO_PROCESS;
  return fields;
}
RecordFields waits_for(std::uint64_t tsc, std::uint64_t wanted) {
  return begins(LONGPOLE_SIGNAL_WAIT, tsc, wanted);
}
RecordFields got(std::uint64_t tsc, int signal, int result = 0) {
  return returns(LONGPOLE_SIGNAL_WAIT, tsc, static_cast<std::uint64_t>(signal), result);
}

constexpr std::uint64_t first_handle = 0x70;
constexpr std::uint64_t second_handle = 0x71;

// Thread 0 does `sender`, thread 1 `waiter`; both have created nobody.
std::vector<std::string> lines_of(const std::vector<RecordFields>& sender,
                                  const std::vector<RecordFields>& waiter) {
  HandMadeRun run;
  run.events.add_thread(0, 100, sender, 0, first_handle);
  run.events.add_thread(1, 101, waiter, 0, second_handle);
  return describe(*run.merge());
}

TEST(Signals, AWaitIsEndedByTheThreadThatSentWhatItGot) {
  const auto lines =
      lines_of({sends(50'000, SIGUSR1, second_handle), call(LONGPOLE_THREAD_END, 90'000)},
               {waits_for(10'000, bit(SIGUSR1) | bit(SIGTERM)), got(60'000, SIGUSR1)});
  EXPECT_THAT(lines, Contains("0 50000 post 0 cpu=50000"));
  EXPECT_THAT(lines, Contains(HasSubstr("1 10000 wait 0 cpu=0 took=50000 from=0")));
}

TEST(Signals, WhatAHandlerTookIsToldFromWhatCouldHaveEndedTheWait) {
  // As in sigsuspend: whatever was sent meanwhile, to the thread or to the process.
  const auto lines =
      lines_of({sends(5'000, SIGUSR1, second_handle), sends(40'000, SIGUSR2, second_handle),
                sends_to_process(50'000, SIGUSR1)},
               {waits_for(10'000, bit(SIGUSR1)), got(60'000, 0)});
  EXPECT_THAT(lines, Contains("0 50000 post 0 cpu=50000")) << "the others end nothing";
  EXPECT_THAT(lines, Contains(HasSubstr("1 10000 wait 0 cpu=0 took=50000 from=0")));
}

TEST(Signals, OneThatWasPendingEndsOnlyAWaitThatWasOverAtOnce) {
  const auto pending = [](std::uint64_t end) {
    return lines_of({sends(5'000, SIGUSR1, second_handle), sends(45'000, SIGUSR1, second_handle)},
                    {waits_for(40'000, bit(SIGUSR1)), got(end, SIGUSR1)});
  };
  EXPECT_THAT(pending(50'000), Contains(HasSubstr("0 5000 post 0")));
  EXPECT_THAT(pending(90'000), Contains(HasSubstr("0 45000 post 0")));
  EXPECT_THAT(pending(90'000), Not(Contains(HasSubstr("0 5000"))));
}

TEST(Signals, OfOneNumberArePendingOnceUnlessTheyAreRealTime) {
  for (const int signal : {SIGUSR1, 40}) {
    const auto lines = lines_of(
        {sends(1'000, signal, second_handle), sends(2'000, signal, second_handle)},
        {waits_for(3'000, bit(signal)), got(3'500, signal), waits_for(4'000, bit(signal))});
    EXPECT_THAT(lines, Contains(HasSubstr("0 1000 post 0")));
    EXPECT_THAT(lines, Not(Contains(HasSubstr("0 2000 post"))));
    EXPECT_THAT(lines, Contains("1 4000 wait cpu=0 unfinished"));
  }
  const auto both = lines_of(
      {sends(1'000, 40, second_handle), sends(2'000, 40, second_handle)},
      {waits_for(3'000, bit(40)), got(3'500, 40), waits_for(4'000, bit(40)), got(4'500, 40)});
  EXPECT_THAT(both, Contains(HasSubstr("0 2000 post 0")));
}

TEST(Signals, FromOutsideTheyAreATimeThatPasses) {
  HandMadeRun run;
  run.spool.out(10'100, 100);
  run.spool.in(70'000, 100);
  run.spool.exit(90'000, 100);
  run.events.add_thread(
      0, 100,
      {waits_for(10'000, bit(SIGTERM)), got(70'100, SIGTERM), sends(75'000, SIGTERM, 0x99),
       sends(76'000, SIGUSR1, first_handle), call(LONGPOLE_THREAD_END, 90'000)},
      0, first_handle);
  EXPECT_THAT(describe(*run.merge()),
              ElementsAre("0 10100 external cpu=10100 took=59900", "0 90000 end cpu=20000"))
      << "and what ends no wait of the program's threads is no event";
}

TEST(Signals, AFailedSendWakesNobody) {
  const auto lines = lines_of({sends(20'000, SIGUSR1, second_handle, EINVAL)},
                              {waits_for(10'000, bit(SIGUSR1)), got(60'000, SIGUSR1)});
  EXPECT_THAT(lines, Not(Contains(HasSubstr("post"))));
}

TEST(Signals, OneToItselfIsThereWhenItWaits) {
  const auto lines = lines_of(
      {sends(10'000, SIGUSR1, first_handle), waits_for(11'000, bit(SIGUSR1)), got(12'000, SIGUSR1)},
      {});
  EXPECT_THAT(lines, Contains("0 10000 post 0 cpu=10000"));
  EXPECT_THAT(lines, Contains("0 11000 wait 0 cpu=1000 took=1000"));
}

TEST(Cancellations, EndTheCallThatTheThreadWasIn) {
  const auto lines =
      lines_of({call(LONGPOLE_CANCEL, 50'000, second_handle), call(LONGPOLE_THREAD_END, 90'000)},
               {begins(LONGPOLE_SEMAPHORE_WAIT, 10'000, 0x30),
                call(LONGPOLE_MUTEX_UNLOCK, 60'000, 0x40), call(LONGPOLE_THREAD_END, 61'000)});
  EXPECT_THAT(lines, Contains("0 50000 cancel 1 cpu=50000"));
  EXPECT_THAT(lines, Contains("0 50000 post 0 cpu=0"));
  EXPECT_THAT(lines, Contains("1 10000 wait 0 cpu=0 took=50000 from=0"));
  EXPECT_THAT(lines, Contains(HasSubstr("1 60000 unlock")));
}

TEST(Cancellations, InAWaitForAConditionHaveTheMutexAgain) {
  const auto lines = lines_of(
      {call(LONGPOLE_CANCEL, 50'000, second_handle)},
      {call(LONGPOLE_MUTEX_LOCK, 9'000, lock_address),
       begins(LONGPOLE_CONDITION_WAIT, 10'000, condition_address, lock_address),
       call(LONGPOLE_MUTEX_UNLOCK, 60'000, lock_address), call(LONGPOLE_THREAD_END, 61'000)});
  EXPECT_THAT(lines, ElementsAre(HasSubstr("0 50000 cancel 1"), HasSubstr("0 50000 post 0"),
                                 HasSubstr("0 1000000 end"), "1 0 external cpu=0 took=9000",
                                 "1 9000 lock 1 cpu=0", "1 10000 unlock 1 cpu=0",
                                 "1 10000 wait 0 cpu=0 took=50000 from=0", "1 60000 lock 1 cpu=0",
                                 "1 60000 unlock 1 cpu=0", "1 61000 end cpu=0"));
}

TEST(Cancellations, InInputOrOutputToo) {
  HandMadeRun run;
  run.spool.fork(1'000, 101, 100);
  run.spool.out(5'000, 100);
  run.spool.in(5'000, 101);
  run.spool.out(10'100, 101);
  run.spool.in(10'100, 100);
  run.spool.out(55'000, 100);
  run.spool.in(55'000, 101);
  run.spool.exit(61'500, 101);
  run.events.add_thread(
      0, 100,
      {call(LONGPOLE_CREATE, 1'000, 1), call(LONGPOLE_CANCEL, 50'000, second_handle),
       call(LONGPOLE_THREAD_END, 54'000)},
      0, first_handle);
  run.events.add_thread(1, 101, {begins(LONGPOLE_IO, 10'000, 3), call(LONGPOLE_THREAD_END, 61'000)},
                        0, second_handle);
  const auto lines = describe(*run.merge());
  EXPECT_THAT(lines, Contains("1 10000 wait 0 cpu=5000 took=44900 from=0"));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("external"))));
}

// The thread's clock was read as it began to wait and at its end, and says nothing of how much of it came before.
TEST(Cancellations, EndNoWaitBeforeTheyWereMade) {
  HandMadeRun run;
  run.result.kernel_source = false;
  run.events.add_thread(
      0, 100, {call(LONGPOLE_CANCEL, 50'000, second_handle), call(LONGPOLE_THREAD_END, 90'000)}, 0,
      first_handle);
  run.events.add_thread(1, 101,
                        {clocked(begins(LONGPOLE_SEMAPHORE_WAIT, 40'000, 0x30), 1'000),
                         call(LONGPOLE_MUTEX_UNLOCK, 60'000, 0x40),
                         clocked(call(LONGPOLE_THREAD_END, 60'100), 21'100)},
                        0, second_handle);
  const auto lines = describe(*run.merge());
  EXPECT_THAT(lines, Contains("0 50000 post 0 cpu=0"));
  EXPECT_THAT(lines, Contains(HasSubstr("1 40000 wait 0")));
  EXPECT_THAT(lines, Contains(HasSubstr("took=10001 from=0")));
}

TEST(Cancellations, OfAThreadThatRanOnHaveNothingToRelease) {
  const auto lines = lines_of(
      {call(LONGPOLE_CANCEL, 50'000, second_handle)},
      {call(LONGPOLE_MUTEX_LOCK, 60'000, lock_address), call(LONGPOLE_THREAD_END, 61'000)});
  EXPECT_THAT(lines, Not(Contains(HasSubstr("post"))));
}

}  // namespace
}  // namespace longpole::recording
