// What real runs say of a prediction.
#include "cli/validation_prediction.h"

#include <gtest/gtest.h>

#include "trace/program_text.h"

namespace longpole::cli {
namespace {

using analysis::RealRun;

// Two threads that each compute for 10 ms: twice as fast on two CPUs.
ValidationPrediction two_threads() {
  Recording recording =
      *read_program("thread main\n  run f 10\nthread other\n  run g 10\n", "program");
  recording.run.source = Source::kernel;
  recording.run.elapsed = recording.run.cpu_time = Nanoseconds{20'000'000};
  return *predict({}, {}, std::move(recording), "program", {2});
}

std::vector<RealRun> rounds(std::initializer_list<RealRun> runs) {
  return runs;
}

RealRun run(int elapsed_ms, int cpu_time_ms) {
  return {Nanoseconds{elapsed_ms * 1'000'000}, Nanoseconds{cpu_time_ms * 1'000'000}, {}};
}

TEST(ValidationPrediction, MoreCpuTimeOnManyCpusLowersOneEnd) {
  const ValidationPrediction prediction = two_threads();
  ValidationRow row = prediction.validation.rows.front();
  ASSERT_EQ(row.predicted_speedup, 2);
  const auto on_one = rounds({run(20, 20), run(20, 20)});
  ASSERT_TRUE(hold_against(row, prediction, on_one, rounds({run(12, 25), run(12, 25)})));
  EXPECT_NEAR(row.real->speedup, 20.0 / 12, 1e-9);
  EXPECT_NEAR(*row.compensated_speedup, 1.6, 1e-3);
  EXPECT_NEAR(row.interval->low, 1.6, 1e-3);
  EXPECT_NEAR(row.interval->high, 2, 1e-3);
}

// The other thread begins a millisecond later on the other CPU, and ends after 21 ms.
TEST(ValidationPrediction, HasTheCostsOfTheMachineUnlessTheOptionsSayOthers) {
  const auto speedup = [](const HostCosts& costs, const ComputerOptions& options) {
    Recording recording = *read_program(
        "thread main\n  run f 10\n  post S\n  run f 10\nthread other\n  wait S\n  run g 10\n",
        "program");
    return predict(options, costs, std::move(recording), "program", {2})
        ->validation.rows.front()
        .predicted_speedup;
  };
  HostCosts costs;
  costs.wake_up = Nanoseconds{1'000'000};
  EXPECT_NEAR(speedup({}, {}), 30.0 / 20, 1e-3);
  EXPECT_NEAR(speedup(costs, {}), 30.0 / 21, 1e-3);
  ComputerOptions options;
  options.costs = "none";
  EXPECT_NEAR(speedup(costs, options), 30.0 / 20, 1e-3);
}

// Twice as fast each time; only the speed of the CPUs differs, on one of them or on both.
TEST(ValidationPrediction, ASlowMachineIsNoDoubtOfTheSchedule) {
  const ValidationPrediction prediction = two_threads();
  ValidationRow row = prediction.validation.rows.front();
  const auto on_one = rounds({run(20, 20), run(25, 25), run(40, 40)});
  ASSERT_TRUE(
      hold_against(row, prediction, on_one, rounds({run(10, 20), run(12, 24), run(20, 40)})));
  EXPECT_NEAR(row.interval->low, 2, 1e-3);
  EXPECT_NEAR(row.interval->high, 2 / 0.96, 1e-3);
}

// In the second round a thread waits for 5 ms that nothing explains, with the same CPU time.
TEST(ValidationPrediction, AnotherScheduleIsADoubt) {
  const ValidationPrediction prediction = two_threads();
  ValidationRow row = prediction.validation.rows.front();
  const auto on_one = rounds({run(20, 20), run(20, 20), run(20, 20)});
  ASSERT_TRUE(
      hold_against(row, prediction, on_one, rounds({run(10, 20), run(15, 20), run(10, 20)})));
  EXPECT_NEAR(row.interval->low, 2 / 1.5, 1e-3);
  EXPECT_NEAR(row.interval->high, 2, 1e-3);
}

// What spins in lockstep uses up what time it waits, so its CPU time corrects nothing.
TEST(ValidationPrediction, InLockstepTheCpuTimeIsNoCorrection) {
  const ValidationPrediction prediction = two_threads();
  ValidationRow row = prediction.validation.rows.front();
  row.plain_speedup = 1.5;
  const auto on_one = rounds({run(20, 20), run(20, 20)});
  ASSERT_TRUE(hold_against(row, prediction, on_one, rounds({run(12, 25), run(12, 25)})));
  EXPECT_FALSE(row.compensated_speedup);
  EXPECT_NEAR(row.interval->low, 1.6, 1e-3);
}

}  // namespace
}  // namespace longpole::cli
