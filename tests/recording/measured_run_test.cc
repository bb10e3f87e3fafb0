#include "recording/measured_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

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

TEST(MeasuredRun, EndsWithUs) {
  const std::string written = testing::TempDir() + "measured-run-" + std::to_string(::getpid());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto run = shell(
        fmt::format("echo $$ > {}.new; mv {}.new {}; exec sleep 100", written, written, written),
        usable_cpus());
    ::_exit(1);
  }
  while (!std::filesystem::exists(written))
    ::usleep(1000);
  pid_t program = 0;
  std::ifstream(written) >> program;
  ASSERT_GT(program, 0);
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_EQ(::kill(program, 0), -1) << "it runs on";
  std::filesystem::remove(written);
}

// Since Linux 6.12 a thread may ask for a slice, and the kernel says in /proc/PID/sched which it has.
TEST(MeasuredRun, GivesTheSliceThatIsAskedFor) {
  std::ifstream own("/proc/self/sched");
  if (std::string(std::istreambuf_iterator<char>(own), {}).find("se.slice") == std::string::npos)
    GTEST_SKIP() << "this kernel does not say what slice a thread has";
  const std::string has_long_one =
      fmt::format("awk '/^se.slice/ {{exit $3 != {}}}' /proc/self/sched", long_slice.count());
  for (const Nanoseconds slice : {long_slice, Nanoseconds{}, long_slice}) {
    const auto run = run_measured("/bin/sh", {"-c", has_long_one}, usable_cpus(), slice);
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(run->exit_status, slice == long_slice ? 0 : 1);
  }
}

TEST(MeasuredRun, TheCpusOfTheMachineAreAllThereOnce) {
  std::vector<std::uint32_t> order = usable_cpus_cores_first();
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, usable_cpus());
}

}  // namespace
}  // namespace longpole::recording
