// How often programs are sampled where the user does not say.
#include "recording/sample_cost.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "recording/run_files.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

TEST(SampleCost, HalfAPercentIsWhatSamplingMayTake) {
  EXPECT_EQ(affordable_rate_hz(5'000), 1000U);
  EXPECT_EQ(affordable_rate_hz(10'000), 500U);
  EXPECT_EQ(affordable_rate_hz(16'000), 312U);
}

TEST(SampleCost, TheRateIsTheDefaultOneWhereSamplesAreCheapOrNobodyKnows) {
  EXPECT_EQ(affordable_rate_hz(1'500), 1000U);
  EXPECT_EQ(affordable_rate_hz(1), 1000U);
  EXPECT_EQ(affordable_rate_hz(0), 1000U);
}

TEST(SampleCost, HoweverLongASampleTakesThereAreSome) {
  EXPECT_EQ(affordable_rate_hz(1'000'000), 100U);
  EXPECT_EQ(affordable_rate_hz(1'000'000'000'000), 100U);
}

TEST(SampleCost, MeasuringLeavesTheProcessOnTheCpusThatItWasOn) {
  auto directory = RunDirectory::create();
  ASSERT_TRUE(directory.has_value());
  const std::vector<std::uint32_t> before = usable_cpus();
  EXPECT_GE(cost_of_sample(before.front(), directory->path()), 0);
  EXPECT_EQ(usable_cpus(), before);
}

}  // namespace
}  // namespace longpole::recording
