#include "recording/turns_in_groups.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "recording/system.h"

namespace longpole::recording {
namespace {

using std::chrono::milliseconds;

constexpr Nanoseconds busy = milliseconds(10);
constexpr Nanoseconds idle = milliseconds(1);

TEST(HeldBackNext, LetsThoseGoThatHadLeast) {
  const std::vector<ThreadInTurn> threads = {{1, milliseconds(40), busy, false},
                                             {2, milliseconds(10), busy, false},
                                             {3, milliseconds(30), busy, false},
                                             {4, milliseconds(20), busy, false}};
  EXPECT_EQ(held_back_next(threads, 2), (std::vector<pid_t>{1, 3}));
  EXPECT_EQ(held_back_next(threads, 4), (std::vector<pid_t>{1, 3, 4}));
  EXPECT_EQ(held_back_next(threads, 1), std::vector<pid_t>{});
}

TEST(HeldBackNext, LeavesThoseAloneThatHardlyWantTheCpu) {
  const std::vector<ThreadInTurn> threads = {{1, milliseconds(900), idle, false},
                                             {2, milliseconds(10), busy, false},
                                             {3, milliseconds(20), Nanoseconds{}, true}};
  EXPECT_EQ(held_back_next(threads, 2), std::vector<pid_t>{3});
}

TEST(HeldBackNext, HasNobodyWaitForNobody) {
  EXPECT_EQ(held_back_next({}, 2), std::vector<pid_t>{});
  const std::vector<ThreadInTurn> one = {{1, milliseconds(90), busy, true}};
  EXPECT_EQ(held_back_next(one, 3), std::vector<pid_t>{});
}

constexpr std::size_t spinning_threads = 4;

// A process with threads that compute on one CPU.
class Spinning {
 public:
  explicit Spinning(std::uint32_t cpu) : pid_(::fork()) {
    if (pid_ != 0)
      return;
    // Whatever becomes of the test, it is not to spin on.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    run_on({cpu});
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < spinning_threads; ++i)
      threads.emplace_back([] {
        for (std::atomic<int> turns = 0;;)
          ++turns;
      });
    for (std::thread& thread : threads)
      thread.join();
  }
  ~Spinning() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::ptrdiff_t held_back() const {
    std::ptrdiff_t count = 0;
    for (const auto& task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task"))
      count +=
          ::sched_getscheduler(std::stoi(task.path().filename().string())) == SCHED_IDLE ? 1 : 0;
    return count;
  }

 private:
  pid_t pid_;
};

// CAP_SYS_NICE, as /proc/self/status has it, or RLIMIT_NICE: without one of them nobody may. In a user namespace one of them
// may not be enough.
bool is_privileged() {
  constexpr unsigned cap_sys_nice = 23;
  constexpr rlim_t of_nice_0 = 20;
  rlimit nice{};
  ::getrlimit(RLIMIT_NICE, &nice);
  const std::string status = read_special_file("/proc/self/status");
  const std::string label = "CapEff:\t";
  const auto capabilities =
      std::stoull(status.substr(status.find(label) + label.size()), nullptr, 16);
  return ((capabilities >> cap_sys_nice) & 1U) != 0 || nice.rlim_cur >= of_nice_0;
}

TEST(TurnsInGroups, HoldHalfOfTheThreadsBackAndInTheEndNobody) {
  const std::uint32_t cpu = usable_cpus().back();
  const bool may = may_group_turns();
  EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
  EXPECT_TRUE(is_privileged() || !may);
  if (!may)
    GTEST_SKIP() << "without CAP_SYS_NICE nobody may take SCHED_IDLE back";
  const Spinning program(cpu);
  {
    const TurnsInGroups turns(program.pid(), 2, cpu);
    std::array<int, spinning_threads + 1> seen{};
    for (int look = 0; look < 100; ++look) {
      std::this_thread::sleep_for(milliseconds(10));
      ++seen.at(static_cast<std::size_t>(program.held_back()));
    }
    EXPECT_EQ(std::ranges::max_element(seen) - seen.begin(), 2);
  }
  EXPECT_EQ(program.held_back(), 0);
}

}  // namespace
}  // namespace longpole::recording
