#include "recording/measured_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
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

// Those that are not our children are waited for by someone else, in a while.
bool ends_soon(pid_t process) {
  for (int i = 0; i < 5000; ++i) {
    std::string state;
    std::ifstream("/proc/" + std::to_string(process) + "/stat") >> state >> state >> state;
    if (state.empty() || state == "Z")
      return true;
    ::usleep(1000);
  }
  return false;
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

// By the CPU that we, who wait for it, were on last: proc(5).
TEST(MeasuredRun, IsStartedFromTheFirstOfItsCpus) {
  std::vector<std::uint32_t> cpus = usable_cpus();
  cpus.resize(std::min<std::size_t>(2, cpus.size()));
  // Where others run as well, we may have been moved meanwhile.
  constexpr int tries = 40;
  int from_first = 0;
  for (int i = 0; i < tries; ++i) {
    std::ranges::reverse(cpus);
    const auto run = shell("read -r all < /proc/$PPID/stat; set -- $all; exit ${39}", cpus);
    ASSERT_TRUE(run) << run.error().text();
    from_first += run->exit_status == static_cast<int>(cpus.front()) ? 1 : 0;
  }
  EXPECT_GT(from_first, tries * 3 / 4);
}

// taskset(1) calls sched_setaffinity for itself and becomes the program.
TEST(MeasuredRun, KeepsAProgramThatChoosesOtherCpusWhereItIsToldTo) {
  const std::vector<std::uint32_t> all = usable_cpus();
  const std::string script =
      fmt::format("taskset -cp {} $$ >/dev/null || exit 99; exit $(nproc)", fmt::join(all, ","));
  const auto run = [&](OwnAffinity affinity) {
    const auto one = run_measured("/bin/sh", {"-c", script}, {all.back()}, {}, affinity);
    return one ? one->exit_status : -1;
  };
  EXPECT_EQ(run(OwnAffinity::granted), static_cast<int>(all.size()));
  EXPECT_EQ(run(OwnAffinity::ignored), 1);
  const auto copies = run_copies("/bin/sh", {"-c", script}, {all.back()}, 2,
                                 std::chrono::seconds(60), OwnAffinity::ignored);
  ASSERT_TRUE(copies) << copies.error().text();
  EXPECT_EQ(copies->front().exit_status, 1);
  EXPECT_EQ(usable_cpus(), all);
}

TEST(MeasuredRun, KnowsFromItsTimeThatAProgramLeftItsCpus) {
  MeasuredRun run;
  run.elapsed = std::chrono::milliseconds(1000);
  run.cpu_time = std::chrono::milliseconds(1010);
  EXPECT_FALSE(left_its_cpus(run, 1));
  run.cpu_time = std::chrono::milliseconds(1011);
  EXPECT_TRUE(left_its_cpus(run, 1));
  EXPECT_FALSE(left_its_cpus(run, 2));
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

// As mincore(2) has it. All of a file that is on no disk is.
std::size_t bytes_in_memory(const std::filesystem::path& file) {
  const MappedFile mapped(file);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((mapped.bytes().size() + page - 1) / page);
  const bool known = ::mincore(const_cast<std::uint8_t*>(mapped.bytes().data()),
                               mapped.bytes().size(), pages.data()) == 0;
  EXPECT_TRUE(known);
  return page * static_cast<std::size_t>(
                    std::ranges::count_if(pages, [](unsigned char is) { return (is & 1) != 0; }));
}

TEST(MeasuredRun, SaysWhatADiskHadToBring) {
  const std::filesystem::path file =
      std::filesystem::path(LONGPOLE_BUILD_DIRECTORY) / fmt::format("read-{}", ::getpid());
  constexpr std::size_t bytes = 2048 * 4096;
  std::ofstream(file) << std::string(bytes, 'x');
  const Descriptor written(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::fsync(written.get()), 0);
  const auto read_it = [&] { return shell("cat " + file.string(), usable_cpus()); };
  const auto in_memory = read_it();
  ASSERT_EQ(::posix_fadvise(written.get(), 0, 0, POSIX_FADV_DONTNEED), 0);
  const std::size_t left = bytes_in_memory(file);
  const auto on_disk = read_it();
  std::filesystem::remove(file);
  ASSERT_TRUE(in_memory && on_disk);
  EXPECT_LT(in_memory->read_from_disk, bytes);
  EXPECT_GE(on_disk->read_from_disk + left, bytes);
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

TEST(Copies, RunOneOnEachCpuAtATimeAndAreAllWaitedFor) {
  const std::vector<std::uint32_t> cpus = usable_cpus();
  const std::string written = testing::TempDir() + "copies-" + std::to_string(::getpid());
  // Each ends once it has seen the others.
  const std::string script = fmt::format(
      "grep Cpus_allowed_list /proc/self/status >> {0}; "
      "while [ $(wc -l < {0}) -lt {1} ]; do sleep 0.01; done; exit 3",
      written, cpus.size());
  const auto runs =
      run_copies("/bin/sh", {"-c", script}, cpus, 2, Nanoseconds{std::chrono::minutes(1)});
  ASSERT_TRUE(runs) << runs.error().text();
  EXPECT_EQ(runs->size(), cpus.size());
  for (const MeasuredRun& run : *runs)
    EXPECT_EQ(run.exit_status, 3);
  std::multiset<std::string> lines;
  std::multiset<std::string> expected;
  std::ifstream in(written);
  for (std::string line; std::getline(in, line);)
    lines.insert(line);
  for (const std::uint32_t cpu : cpus)
    expected.insert(fmt::format("Cpus_allowed_list:\t{}", cpu));
  EXPECT_EQ(lines, expected);
  std::filesystem::remove(written);
}

// With what they have started, which would go on for ever.
TEST(Copies, AreKilledWhenTheyDoNotEnd) {
  const std::string written = testing::TempDir() + "copies-kill-" + std::to_string(::getpid());
  const auto runs = run_copies(
      "/bin/sh", {"-c", fmt::format("trap '' TERM; sleep 100 & echo $! >> {}; wait", written)},
      usable_cpus(), 1, Nanoseconds{std::chrono::milliseconds(200)});
  ASSERT_TRUE(runs) << runs.error().text();
  for (const MeasuredRun& run : *runs)
    EXPECT_EQ(run.exit_status, 128 + 9);
  std::ifstream in(written);
  std::size_t started = 0;
  for (pid_t sleeping = 0; in >> sleeping; ++started)
    EXPECT_TRUE(ends_soon(sleeping)) << "it sleeps on";
  EXPECT_EQ(started, runs->size());
  std::filesystem::remove(written);
  const auto missing = run_copies("/nowhere/at/all", {}, usable_cpus(), 1, Nanoseconds{1});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text(), "cannot run /nowhere/at/all: No such file or directory");
}

TEST(Copies, EndWithUs) {
  const std::string written = testing::TempDir() + "copies-end-" + std::to_string(::getpid());
  const std::uint32_t cpu = usable_cpus().front();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto run = run_copies(
        "/bin/sh", {"-c", fmt::format("echo $$ >> {0}; while :; do sleep 0.01; done", written)},
        {cpu, cpu}, 1, Nanoseconds{std::chrono::minutes(1)});
    ::_exit(1);
  }
  std::vector<pid_t> programs;
  while (programs.size() < 2) {
    ::usleep(1000);
    programs.clear();
    std::ifstream in(written);
    for (std::string line; std::getline(in, line);)
      programs.push_back(std::stoi(line));
  }
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  for (const pid_t program : programs)
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
