#include "recording/measured_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "recording/system.h"

namespace longpole::recording {
namespace {

Expected<MeasuredRun> shell(const std::string& script, const std::vector<std::uint32_t>& cpus) {
  return run_measured("/bin/sh", {"-c", script}, cpus);
}

TEST(MeasuredRun, RunsOnTheCpusThatItIsGivenAndLeavesOursAlone) {
  const std::vector<std::uint32_t> before = usable_cpus();
  const auto on_one = shell("exit $(nproc)", {before.back()});
  ASSERT_TRUE(on_one) << on_one.error().text();
  EXPECT_EQ(on_one->exit_status, 1);
  const auto on_all = shell("exit $(nproc)", before);
  ASSERT_TRUE(on_all) << on_all.error().text();
  EXPECT_EQ(on_all->exit_status, static_cast<int>(before.size()));
  EXPECT_EQ(usable_cpus(), before);
}

TEST(MeasuredRun, CountsTheTimeOfItsChildrenAndNotThatOfItsSleep) {
  const auto run =
      shell("sleep 0.2; sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'", usable_cpus());
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_GT(run->cpu_time, Nanoseconds{0});
  EXPECT_GE(run->elapsed, run->cpu_time + Nanoseconds{150'000'000});
}

TEST(MeasuredRun, HasNothingToReadAndSaysHowItEnded) {
  EXPECT_EQ(shell("read line", usable_cpus())->exit_status, 1);
  EXPECT_EQ(shell("kill -9 $$", usable_cpus())->exit_status, 128 + 9);
  const auto missing = run_measured("/nowhere/at/all", {}, usable_cpus());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text(), "cannot run /nowhere/at/all: No such file or directory");
}

TEST(MeasuredRun, TheCpusOfTheMachineAreAllThereOnce) {
  std::vector<std::uint32_t> order = usable_cpus_cores_first();
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, usable_cpus());
}

}  // namespace
}  // namespace longpole::recording
