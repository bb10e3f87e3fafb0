#include "analysis/activity.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analysis/forecast.h"
#include "programs.h"
#include "random_program.h"

namespace longpole::analysis {
namespace {

std::string table(const Recording& recording, const std::vector<FunctionActivity>& functions) {
  std::string text;
  for (const FunctionActivity& one : functions)
    text += fmt::format("{} {:g} {:g} {:g}\n",
                        one.function.known() ? recording.functions[one.function.index()].name : "?",
                        one.running_ns / 1e6, one.runnable_ns / 1e6, one.blocked_ns / 1e6);
  return text;
}

// A holds M for 3 of its 4; B comes for it at 1 and then waits for a CPU where there is one only.
const char* const two_threads = R"(
thread A
  lock M
  run f 3
  unlock M
  run f 1
thread B
  run g 1
  lock M
  run g 2
  unlock M
  sleep 5
)";

Computer on(std::string_view scheduler, std::uint32_t cpus) {
  Computer computer = *computer_named(scheduler);
  computer.machine.cpus = cpus;
  return computer;
}

TEST(Activity, IsByFunction) {
  const auto recording = std::make_shared<const Recording>(read_text(two_threads));
  const Forecaster forecaster(recording);
  const auto activity = [&](std::string_view scheduler, std::uint32_t cpus) {
    return table(*recording, forecaster.functions_on(on(scheduler, cpus), {})->functions);
  };
  EXPECT_EQ(activity("fifo", 1), "f 4 0 0\ng 3 4 0\n? 0 0 5\n");
  EXPECT_EQ(activity("fifo", 2), "f 4 0 0\ng 3 0 0\n? 0 0 7\n");
  EXPECT_EQ(activity("ideal", 1), "f 4 0 0\ng 3 0 0\n? 0 0 7\n");
  // Both run until 2, and from 4 to 5; A alone runs from 2 to 4.
  EXPECT_EQ(activity("shared", 1), "f 4 2 0\ng 3 2 0\n? 0 0 7\n");
}

// From the start of each thread to its end, somewhere.
TEST(Activity, AddsUpToTheLivesOfTheThreads) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Recording recording = read_text(random_program(seed));
    simulation::Machine machine;
    machine.cpus = 1 + static_cast<std::uint32_t>(seed % 3);
    machine.wake_up = std::chrono::microseconds(30);
    ActivityConsumer activity(recording);
    const auto run = simulation::simulate(recording, machine);
    ASSERT_TRUE(run);
    std::vector<Nanoseconds> starts(recording.threads.size(), Nanoseconds{-1});
    std::vector<Nanoseconds> ends(recording.threads.size(), Nanoseconds{-1});
    for (const simulation::Stretch& stretch : run->stretches) {
      activity.add(stretch);
      if (starts[stretch.thread] < Nanoseconds{})
        starts[stretch.thread] = stretch.ready;
      ends[stretch.thread] = stretch.end;
    }
    double lives = 0;
    for (std::size_t t = 0; t < starts.size(); ++t)
      lives += static_cast<double>((ends[t] - starts[t]).count());
    double sum = 0;
    for (const FunctionActivity& one : activity.functions())
      sum += one.running_ns + one.runnable_ns + one.blocked_ns;
    ASSERT_NEAR(sum, lives, 1) << seed;
  }
}

}  // namespace
}  // namespace longpole::analysis
