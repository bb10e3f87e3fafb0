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

}  // namespace
}  // namespace longpole::recording
