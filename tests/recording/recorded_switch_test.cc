// What it takes the kernel of this machine to write down that threads change.
#include "recording/recorded_switch.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "recording/perf_rings.h"
#include "recording/run_files.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

constexpr std::uint32_t seldom_hz = 10;
constexpr std::int64_t long_ns = 1'000'000;

TEST(RecordedSwitch, MeasuringLeavesTheProcessOnTheCpusThatItWasOn) {
  auto directory = RunDirectory::create();
  ASSERT_TRUE(directory.has_value());
  const std::vector<std::uint32_t> before = usable_cpus();
  const CostsOfSwitches costs =
      costs_of_recorded_switches(before.front(), seldom_hz, std::nullopt, directory->path());
  EXPECT_LT(costs.switch_ns, long_ns);
  EXPECT_EQ(costs.tracepoint_ns, 0) << "there is none";
  EXPECT_EQ(usable_cpus(), before);
}

TEST(RecordedSwitch, TracepointsOfWhoSleepsAndWakesCostMore) {
  const auto tracepoints = find_tracepoints(true);
  if (!tracepoints)
    GTEST_SKIP() << tracepoints.error().text();
  auto directory = RunDirectory::create();
  ASSERT_TRUE(directory.has_value());
  const CostsOfSwitches costs =
      costs_of_recorded_switches(usable_cpus().front(), seldom_hz, *tracepoints, directory->path());
  EXPECT_GT(costs.switch_ns, 0);
  EXPECT_LT(costs.switch_ns, long_ns);
  EXPECT_GT(costs.tracepoint_ns, 0);
  EXPECT_LT(costs.tracepoint_ns, long_ns);
}

}  // namespace
}  // namespace longpole::recording
