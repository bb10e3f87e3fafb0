// Who wakes whom where no recorded call says so, from the scheduler's tracepoints.
#include <gmock/gmock.h>

#include <algorithm>

#include "hand_made_run.h"

namespace longpole::recording {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// Thread 100 creates 101 and sleeps from 200 µs on, in no recorded call, until 101 wakes it at 500 µs.
// On one CPU.
class SleepAndWakeUp : public HandMadeRun {
 public:
  explicit SleepAndWakeUp(bool privileged, std::int64_t back_at = 600'000) {
    if (privileged)
      result.tracepoints = PerfSpool::tracepoints;
    events.add_thread(0, 100,
                      {call(LONGPOLE_CREATE, 100'000, 1), call(LONGPOLE_THREAD_END, 800'000)});
    events.add_thread(1, 101,
                      {call(LONGPOLE_THREAD_START, 200'000), call(LONGPOLE_THREAD_END, 600'000)});
    spool.fork(100'000, 101, 100);
    spool.out(200'000, 100);
    spool.in(200'000, 101);
    spool.exit(600'000, 101);
    spool.in(back_at, 100);
    spool.exit(800'000, 100);
  }
};

TEST(Wakes, ASleepThatAnotherThreadEndedIsAWaitForIt) {
  SleepAndWakeUp run(true);
  run.wakes.blocking(199'500, 100, {0x7000, 0x7100});
  run.wakes.waking(500'000, 101, 100, {0x8000});
  const auto merged = run.merge();
  ASSERT_TRUE(merged.has_value());
  EXPECT_THAT(
      describe(*merged),
      ElementsAre("0 100000 create 1 cpu=100000", "0 200000 wait 0 cpu=100000 took=400000 from=1",
                  "0 800000 end cpu=200000", "1 500000 post 0 cpu=300000",
                  "1 600000 end cpu=100000"));
  ASSERT_EQ(merged->objects.size(), 1U);
  EXPECT_EQ(merged->objects[0].woken, ThreadId{0});
  EXPECT_EQ(merged->objects[0].waker, ThreadId{1});
  EXPECT_EQ(merged->sites[merged->threads[0].sites[1]].candidates,
            std::vector<std::uint64_t>{0x7100});
  EXPECT_EQ(merged->sites[merged->threads[1].sites[0]].address, 0x8000U);
  EXPECT_THAT(notice_codes(*merged), Not(Contains("wakers-unknown")));
}

TEST(Wakes, WhatAnInterruptOrAnotherProgramWokeLastsAsLongAsItDid) {
  for (const bool interrupt : {true, false}) {
    SleepAndWakeUp run(true, 700'000);
    run.wakes.waking(500'000, interrupt ? 101 : 999, 100, {}, interrupt ? in_interrupt & 0x08 : 0);
    const auto merged = run.merge();
    ASSERT_TRUE(merged.has_value());
    EXPECT_THAT(describe(*merged), Contains(fmt::format("0 200000 external cpu=100000 took={}",
                                                        interrupt ? 500'000 : 300'000)));
    EXPECT_TRUE(merged->objects.empty());
  }
}

TEST(Wakes, WithoutPrivilegesItIsSaidThatTheWakerIsUnknown) {
  SleepAndWakeUp run(false);
  const auto merged = run.merge();
  ASSERT_TRUE(merged.has_value());
  EXPECT_THAT(notice_codes(*merged), Contains("wakers-unknown"));
}

TEST(Wakes, AThreadThatIsAloneIsWokenByNobodyWhoCouldBeKnown) {
  HandMadeRun run;
  run.events.add_thread(0, 100, {call(LONGPOLE_THREAD_END, 800'000)});
  run.spool.out(200'000, 100);
  run.spool.in(600'000, 100);
  run.spool.exit(800'000, 100);
  const auto merged = run.merge();
  ASSERT_TRUE(merged.has_value());
  EXPECT_THAT(describe(*merged), Contains("0 200000 external cpu=200000 took=400000"));
  EXPECT_THAT(notice_codes(*merged), ElementsAre("no-threads-created"));
}

TEST(Wakes, AWakeUpInsideARecordedWaitIsThatOfTheCall) {
  HandMadeRun run;
  run.result.tracepoints = PerfSpool::tracepoints;
  run.events.add_thread(
      0, 100,
      {call(LONGPOLE_CREATE, 100'000, 1), begins(LONGPOLE_SEMAPHORE_WAIT, 200'000, 9),
       returns(LONGPOLE_SEMAPHORE_WAIT, 600'000, 9), call(LONGPOLE_THREAD_END, 800'000)});
  run.events.add_thread(
      1, 101,
      {call(LONGPOLE_THREAD_START, 200'000), call(LONGPOLE_SEMAPHORE_POST, 500'000, 9),
       call(LONGPOLE_THREAD_END, 600'000)});
  run.spool.fork(100'000, 101, 100);
  run.spool.out(200'000, 100);
  run.spool.in(200'000, 101);
  run.spool.exit(600'000, 101);
  run.spool.in(600'000, 100);
  run.spool.exit(800'000, 100);
  run.wakes.waking(500'100, 101, 100, {0x8000});
  const auto merged = run.merge();
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(merged->objects.size(), 1U);
  EXPECT_EQ(merged->threads[1].events.size(), 2U);
}

// glibc's signal and broadcast sleep until those that were woken before have taken note; the last of them wakes it.
// Thread 100 makes such a call at some time and sleeps from 200 µs on, until 101 wakes it at 500 µs.
class SleepBehindACall : public HandMadeRun {
 public:
  SleepBehindACall(unsigned kind, std::uint64_t at, const std::vector<std::uint64_t>& path) {
    result.tracepoints = PerfSpool::tracepoints;
    events.add_thread(
        0, 100,
        {call(LONGPOLE_CREATE, 100'000, 1), call(kind, at, 9), call(LONGPOLE_THREAD_END, 800'000)});
    events.add_thread(1, 101,
                      {call(LONGPOLE_THREAD_START, 200'000), call(LONGPOLE_THREAD_END, 600'000)});
    spool.fork(100'000, 101, 100);
    spool.out(200'000, 100);
    spool.in(200'000, 101);
    spool.exit(600'000, 101);
    spool.in(600'000, 100);
    spool.exit(800'000, 100);
    if (!path.empty())
      wakes.blocking(199'500, 100, path);
    wakes.waking(500'000, 101, 100, {0x8000});
  }
};

TEST(Wakes, WhatASignalSleepsForThoseThatWereWokenIsNoWait) {
  constexpr std::uint64_t soon = 195'000;
  constexpr std::uint64_t later = 150'000;
  const std::vector<std::uint64_t> elsewhere = {0x7000, 0x7100};
  for (const unsigned kind : {LONGPOLE_CONDITION_SIGNAL, LONGPOLE_CONDITION_BROADCAST}) {
    const std::vector<std::uint64_t> in_the_call = {0x7000, 0x7100, 0x5000 + kind};
    const auto is_wait = [&](std::uint64_t at, const std::vector<std::uint64_t>& path) {
      SleepBehindACall run(kind, at, path);
      const auto merged = run.merge();
      EXPECT_TRUE(merged.has_value());
      const auto lines = describe(*merged);
      const bool posts = std::ranges::find(lines, "1 500000 post 1 cpu=300000") != lines.end();
      EXPECT_EQ(merged->objects.size(), posts ? 2U : 1U) << "the condition, and wake-ups";
      return posts;
    };
    EXPECT_FALSE(is_wait(soon, elsewhere)) << "unwinding may have missed the call";
    EXPECT_FALSE(is_wait(later, in_the_call)) << "it may have lost its CPU before it slept";
    EXPECT_FALSE(is_wait(later, {})) << "nobody knows";
    EXPECT_TRUE(is_wait(later, elsewhere));
  }
}

TEST(Wakes, AWakeUpOnTheWayOutIsNotForgotten) {
  SleepAndWakeUp run(true);
  run.wakes.waking(600'000, 101, 100, {0x8000});
  const auto merged = run.merge();
  ASSERT_TRUE(merged.has_value());
  EXPECT_THAT(describe(*merged), Contains("1 600000 post 0 cpu=400000"));
}

TEST(Wakes, TheFormatOfATracepointIsRead) {
  constexpr std::string_view text = R"(name: sched_waking
ID: 375
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t pid;	offset:24;	size:4;	signed:1;
)";
  const auto format = read_tracepoint_format(text, "pid");
  ASSERT_TRUE(format.has_value());
  EXPECT_EQ(format->id, 375U);
  EXPECT_EQ(format->field_at, 24U);
  for (const std::string_view wrong : {"", "ID: x", "ID: 3\nfield:long pid;\toffset:24;\tsize:8;"})
    EXPECT_FALSE(read_tracepoint_format(wrong, "pid").has_value()) << wrong;
}

}  // namespace
}  // namespace longpole::recording
