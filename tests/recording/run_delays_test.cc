#include "recording/run_delays.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t lines_of(const fs::path& file) {
  const std::string text = read_special_file(file);
  return std::count(text.begin(), text.end(), '\n');
}

// This process's own: its only thread waits for a CPU now and then, and not while it does not run.
TEST(RunDelays, AreWrittenWhenThereIsOneMore) {
  const fs::path directory = fs::path(testing::TempDir()) / "RunDelays";
  fs::create_directories(directory);
  const std::int64_t before = monotonic_ns();
  std::int64_t before_last = 0;
  constexpr int snapshots = 10'000;
  {
    RunDelayRecorder recorder(::getpid(), directory);
    for (int i = 0; i < snapshots; ++i) {
      before_last = monotonic_ns();
      recorder.snapshot();
    }
  }
  EXPECT_GE(lines_of(directory / run_delays_file), 1);
  EXPECT_LT(lines_of(directory / run_delays_file), snapshots / 2);
  const auto delays = read_run_delays(read_special_file(directory / run_delays_file), before);
  ASSERT_TRUE(delays.contains(::getpid()));
  EXPECT_GE(delays.at(::getpid()).points().front().time, 0);
  EXPECT_GE(delays.at(::getpid()).points().back().time, before_last - before)
      << "nobody knows of the rest";
  fs::remove_all(directory);
}

TEST(RunDelays, OfLinesThatAreNone) {
  const auto delays = read_run_delays("100 7 5\nnonsense\n200 7 9\n200 8 1\n", 50);
  ASSERT_EQ(delays.size(), 2U);
  EXPECT_EQ(delays.at(7).points().back().time, 150);
  EXPECT_EQ(delays.at(7).total(), 9);
}

}  // namespace
}  // namespace longpole::recording
