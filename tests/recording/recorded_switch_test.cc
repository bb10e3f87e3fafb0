// What it takes the kernel of this machine to write down that threads change.
#include "recording/recorded_switch.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "recording/perf_rings.h"
#include "recording/run_files.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

constexpr std::uint32_t seldom_hz = 10;
constexpr std::int64_t long_ns = 1'000'000;

// None where this user or kernel does not allow them.
std::optional<Tracepoints> recordable_tracepoints(std::uint32_t cpu,
                                                  const std::filesystem::path& directory) {
  const auto found = find_tracepoints(true);
  auto rings = PerfRings::open(::getpid(), {cpu}, seldom_hz, directory);
  if (!found || !rings || !rings->add_tracepoints(::getpid(), *found, directory))
    return std::nullopt;
  return *found;
}

TEST(RecordedSwitch, CostsMoreOfWhoSleepsAndWakesWhereThatIsRecorded) {
  auto directory = RunDirectory::create();
  auto trial = RunDirectory::create();
  ASSERT_TRUE(directory.has_value() && trial.has_value());
  const std::vector<std::uint32_t> before = usable_cpus();
  const auto tracepoints = recordable_tracepoints(before.front(), trial->path());
  const KernelCosts costs =
      costs_of_recorded_switches(before.front(), seldom_hz, tracepoints, directory->path());
  EXPECT_GE(costs.switch_ns, tracepoints ? 1 : 0);
  EXPECT_LT(costs.switch_ns, long_ns);
  EXPECT_LT(costs.sleep_ns, long_ns);
  EXPECT_EQ(costs.tracepoint_ns > 0, tracepoints.has_value());
  EXPECT_LT(costs.tracepoint_ns, long_ns);
  EXPECT_EQ(usable_cpus(), before);
}

TEST(RecordedSwitch, WithoutTracepointsHasNoCostOfThem) {
  auto directory = RunDirectory::create();
  ASSERT_TRUE(directory.has_value());
  const KernelCosts costs =
      costs_of_recorded_switches(usable_cpus().front(), seldom_hz, std::nullopt, directory->path());
  EXPECT_LT(costs.switch_ns, long_ns);
  EXPECT_LT(costs.sleep_ns, long_ns);
  const auto trial = RunDirectory::create();
  ASSERT_TRUE(trial.has_value());
  const bool allowed =
      PerfRings::open(::getpid(), {usable_cpus().front()}, seldom_hz, trial->path()).has_value();
  EXPECT_EQ(costs.switch_ns + costs.sleep_ns > 0, allowed);
  EXPECT_EQ(costs.tracepoint_ns, 0);
}

}  // namespace
}  // namespace longpole::recording
