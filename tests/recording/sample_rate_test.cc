// How often programs are sampled where the user does not say.
#include "recording/sample_rate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace longpole::recording {
namespace {

constexpr std::uint32_t no_ticks = 0;

TEST(SampleRate, HalfAPercentIsWhatSamplingMayTake) {
  EXPECT_EQ(affordable_rate_hz(5'000, no_ticks), 1000U);
  EXPECT_EQ(affordable_rate_hz(10'000, no_ticks), 500U);
  EXPECT_EQ(affordable_rate_hz(16'000, no_ticks), 312U);
}

TEST(SampleRate, IsTheDefaultOneWhereSamplesAreCheapOrNobodyKnows) {
  EXPECT_EQ(affordable_rate_hz(1'500, no_ticks), 1000U);
  EXPECT_EQ(affordable_rate_hz(1, no_ticks), 1000U);
  EXPECT_EQ(affordable_rate_hz(0, no_ticks), 1000U);
}

TEST(SampleRate, HoweverLongASampleTakesThereAreSome) {
  EXPECT_EQ(affordable_rate_hz(1'000'000, no_ticks), 100U);
  EXPECT_EQ(affordable_rate_hz(1'000'000'000'000, no_ticks), 100U);
}

// Where threads take turns at ticks, samples must not be of the same place in each turn.
TEST(SampleRate, IsNotInStepWithTheTicksOfTheKernel) {
  EXPECT_EQ(affordable_rate_hz(5'000, 250), 1000U);   // four places in a tick
  EXPECT_EQ(affordable_rate_hz(10'000, 250), 454U);   // in place of 500, two
  EXPECT_EQ(affordable_rate_hz(16'000, 250), 312U);   // goes through all of them
  EXPECT_EQ(affordable_rate_hz(20'000, 250), 227U);   // in place of 250, one
  EXPECT_EQ(affordable_rate_hz(50'000, 250), 98U);    // in place of 100, two
  EXPECT_EQ(affordable_rate_hz(5'000, 1000), 909U);   // in place of 1000, one
  EXPECT_EQ(affordable_rate_hz(10'000, 1000), 476U);  // in place of 500, one
}

TEST(SampleRate, GoesThroughTheTickWhateverASampleTakes) {
  for (const std::uint32_t ticks : {100U, 250U, 300U, 1000U})
    for (std::int64_t sample_ns = 1'000; sample_ns < 60'000; sample_ns += 7) {
      const std::uint32_t rate = affordable_rate_hz(sample_ns, ticks);
      const double twice = 2.0 * ticks / rate;  // the period in half ticks
      ASSERT_GT(std::abs(twice - std::round(twice)), 0.09)
          << rate << " Hz at " << ticks << " ticks";
      ASSERT_LE(rate, affordable_rate_hz(sample_ns, no_ticks));
    }
}

TEST(SampleRate, AnyMayBeShiftedOutOfStep) {
  EXPECT_EQ(out_of_step_hz(250, 250), 227U);
  EXPECT_EQ(out_of_step_hz(125, 250), 119U);
  EXPECT_EQ(out_of_step_hz(227, 250), 227U) << "is so by itself";
  EXPECT_EQ(out_of_step_hz(1000, 250), 1000U) << "sees four places of a tick";
  EXPECT_EQ(out_of_step_hz(250, no_ticks), 250U);
  EXPECT_EQ(out_of_step_hz(5, 250), 3U) << "at 4 the samples would alternate between two places";
  EXPECT_EQ(out_of_step_hz(1, 250), 0U) << "there is none";
}

TEST(SampleRate, ThreadTimersGiveOneSampleATickAtMost) {
  EXPECT_EQ(rate_of_thread_timers(1000, 250), 250U);
  EXPECT_EQ(rate_of_thread_timers(100, 250), 100U);
  EXPECT_EQ(rate_of_thread_timers(1000, no_ticks), 1000U);
}

}  // namespace
}  // namespace longpole::recording
