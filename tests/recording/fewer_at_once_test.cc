#include "recording/fewer_at_once.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <map>
#include <thread>
#include <vector>

#include "recording/system.h"

namespace longpole::recording {
namespace {

// A process with so many threads that compute, and one that waits for them, all on one CPU.
class Computing {
 public:
  explicit Computing(int threads) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0)
      return;
    pid_ = ::fork();
    if (pid_ == 0) {
      run_on({usable_cpus().front()});
      std::vector<std::thread> computing;
      for (int i = 0; i < threads; ++i)
        computing.emplace_back([] {
          for (volatile bool goes_on = true; goes_on;) {
          }
        });
      if (::write(ready[1], "!", 1) == 1)
        computing.front().join();
      ::_exit(1);
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Computing() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  [[nodiscard]] std::map<int, int> threads_by_policy() const {
    std::map<int, int> count;
    for (const TaskTimes& task : task_times(pid_))
      ++count[::sched_getscheduler(task.thread)];
    return count;
  }

 private:
  pid_t pid_ = 0;
};

TEST(FewerAtOnce, OthersWaitUntilTheseDoNot) {
  const Computing process(4);
  for (int look = 0; look < 20; ++look) {
    hold_back_beyond(2, process.pid());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // The one that waits is none of those that take turns.
  EXPECT_EQ(process.threads_by_policy(), (std::map<int, int>{{SCHED_OTHER, 3}, {SCHED_IDLE, 2}}));
  const auto times = [&] {
    std::map<int, Nanoseconds> used;
    for (const TaskTimes& task : task_times(process.pid()))
      used[::sched_getscheduler(task.thread)] += task.used;
    return used;
  };
  const auto before = times();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto after = times();
  EXPECT_GT(after.at(SCHED_OTHER) - before.at(SCHED_OTHER),
            10 * (after.at(SCHED_IDLE) - before.at(SCHED_IDLE)));
}

TEST(FewerAtOnce, AreAllWhereThereAreNoMore) {
  const Computing process(2);
  for (int look = 0; look < 20; ++look)
    hold_back_beyond(2, process.pid());
  EXPECT_EQ(process.threads_by_policy(), (std::map<int, int>{{SCHED_OTHER, 3}}));
}

}  // namespace
}  // namespace longpole::recording
