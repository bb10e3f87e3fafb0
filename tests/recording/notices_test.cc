// What a recording says of itself.
#include <gmock/gmock.h>

#include <cstdint>

#include "hand_made_run.h"

namespace longpole::recording {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

TEST(Notices, WhatWasLostIsSaid) {
  HandMadeRun run;
  run.control.stop_reason = LONGPOLE_STOP_NO_SPACE;
  run.control.dropped = 5;
  run.result.perf_refused = "the kernel refuses perf events";
  run.spool.lost(50, 3);
  run.events.add_thread(0, 100, {call(LONGPOLE_THREAD_END, 60)});
  const MergedRun merged = *run.merge();
  EXPECT_THAT(notice_codes(merged), ElementsAre("perf-refused", "recording-stopped", "samples-lost",
                                                "no-threads-created"));
  EXPECT_EQ(merged.notices[1].count, 5U);
  EXPECT_FALSE(merged.run.complete);
}

// Of threads that take turns, which a program of one thread has not.
TEST(Notices, SamplesInStepWithTheTicksAreSaid) {
  const auto codes_at = [](std::uint32_t sample_hz, bool kernel_source) {
    HandMadeRun run;
    run.result.kernel_source = kernel_source;
    run.result.sample_hz = sample_hz;
    run.result.ticks_hz = 250;
    run.events.add_thread(0, 100, {call(LONGPOLE_CREATE, 20, 1), call(LONGPOLE_THREAD_END, 60)});
    return notice_codes(*run.merge());
  };
  EXPECT_THAT(codes_at(250, true), Contains("samples-in-step"));
  EXPECT_THAT(codes_at(125, true), Contains("samples-in-step"));
  EXPECT_THAT(codes_at(318, true), Not(Contains("samples-in-step")));
  EXPECT_THAT(codes_at(250, false), Not(Contains("samples-in-step")))
      << "the timers of the portable source know ticks alone";
  HandMadeRun alone;
  alone.result.sample_hz = alone.result.ticks_hz = 250;
  alone.events.add_thread(0, 100, {call(LONGPOLE_THREAD_END, 60)});
  EXPECT_THAT(notice_codes(*alone.merge()), Not(Contains("samples-in-step")));
}

TEST(Notices, WhatAHostStoleOfTheRunIsSaid) {
  constexpr std::int64_t ms = 1'000'000;
  HandMadeRun run;
  run.result.ended_ns = 1'000 * ms;
  run.events.add_thread(0, 100, {call(LONGPOLE_THREAD_END, 60)});
  run.result.stolen = {{0, 500 * ms}, {1'000 * ms, 540 * ms}};
  EXPECT_THAT(notice_codes(*run.merge()), Not(Contains("cpu-stolen")));
  run.result.stolen.back().stolen_ns = 620 * ms;
  const std::vector<Notice> notices = run.merge()->notices;
  const auto notice = std::ranges::find(notices, "cpu-stolen", &Notice::code);
  ASSERT_NE(notice, notices.end());
  EXPECT_THAT(notice->text, testing::HasSubstr("gave the CPU to others for 120 ms of the run"));
  EXPECT_EQ(notice->count, 120U * ms);
  run.result.ended_ns = 100 * ms;
  run.result.stolen = {{0, 500 * ms}, {100 * ms, 540 * ms}};
  EXPECT_THAT(notice_codes(*run.merge()), Not(Contains("cpu-stolen")))
      << "a few steps of its counter";
}

TEST(Notices, LockstepThatTookMostOfTheCpuTimeIsSaid) {
  constexpr std::uint64_t ms = 1'000'000;
  const auto codes = [](std::int64_t cpu_time_ns, std::uint32_t lockstep) {
    HandMadeRun run;
    run.result.kernel_source = false;
    run.result.lockstep = run.control.lockstep_cpus = lockstep;
    run.result.cpu_time_ns = cpu_time_ns;
    run.result.ended_ns = 100 * ms;
    run.result.clock_pairs.back() = {100 * ms, 100 * ms};
    run.events.add_thread(0, 100,
                          {clocked(call(LONGPOLE_THREAD_START, 1 * ms), 1 * ms),
                           clocked(call(LONGPOLE_THREAD_END, 21 * ms), 21 * ms)});
    return notice_codes(*run.merge());
  };
  EXPECT_THAT(codes(90 * ms, 2), Contains("lockstep-costly"));
  EXPECT_THAT(codes(70 * ms, 2), Not(Contains("lockstep-costly")));
  EXPECT_THAT(codes(90 * ms, 0), Not(Contains("lockstep-costly")));
}

}  // namespace
}  // namespace longpole::recording
