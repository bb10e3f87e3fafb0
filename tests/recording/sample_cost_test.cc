// What a sample takes on this machine.
#include "recording/sample_cost.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "recording/run_files.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

TEST(SampleCost, MeasuringLeavesTheProcessOnTheCpusThatItWasOn) {
  auto directory = RunDirectory::create();
  ASSERT_TRUE(directory.has_value());
  const std::vector<std::uint32_t> before = usable_cpus();
  EXPECT_GE(cost_of_sample(before.front(), directory->path()), 0);
  EXPECT_EQ(usable_cpus(), before);
}

}  // namespace
}  // namespace longpole::recording
