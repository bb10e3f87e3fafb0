#include "recording/fewer_at_once.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "recording/system.h"

namespace longpole::recording {
namespace {

using std::chrono::milliseconds;

enum class Main : std::uint8_t { waits, works };

// A process on one CPU with so many threads that do something, and one that waits for them and ends with what they made of it,
// or works as they do before.
class Working {
 public:
  Working(
      int threads, const std::function<void()>& work,
      const std::function<int()>& result = [] { return 0; }, Main main = Main::waits) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0)
      return;
    pid_ = ::fork();
    if (pid_ == 0) {
      run_on({usable_cpus().front()});
      std::vector<std::thread> working;
      for (int i = 0; i < threads; ++i)
        working.emplace_back(work);
      const bool told = ::write(ready[1], "!", 1) == 1;
      if (main == Main::works)
        work();
      for (std::thread& one : working)
        one.join();
      ::_exit(told ? result() : 1);
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Working() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  // By the letter of proc(5), /proc/PID/task/TID/stat.
  [[nodiscard]] std::map<char, int> threads_by_state() const {
    std::map<char, int> count;
    for (const TaskTimes& task : task_times(pid_))
      ++count[state_of(task.thread)];
    return count;
  }
  [[nodiscard]] char state_of(pid_t thread) const {
    const std::string fields =
        read_special_file(fmt::format("/proc/{}/task/{}/stat", pid_, thread));
    return fields.at(fields.rfind(')') + 2);
  }

  // Of the threads that took so much CPU time at least, how many there are.
  [[nodiscard]] int that_took(Nanoseconds least) const {
    int count = 0;
    for (const TaskTimes& task : task_times(pid_))
      count += task.used >= least ? 1 : 0;
    return count;
  }

  // As a shell has it; -1: it goes on after so long.
  [[nodiscard]] int exit_status(FewerAtOnce& fewer, milliseconds patience) const {
    const auto last = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < last) {
      siginfo_t end{};
      ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOHANG | WNOWAIT);
      if (end.si_pid != 0)
        return end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status;
      fewer.look();
      std::this_thread::sleep_for(milliseconds(2));
    }
    return -1;
  }

 private:
  pid_t pid_ = -1;
};

void compute_for_ever() {
  for (volatile bool goes_on = true; goes_on;) {
  }
}

void look_for(FewerAtOnce& fewer, milliseconds time) {
  const auto last = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < last) {
    fewer.look();
    std::this_thread::sleep_for(milliseconds(2));
  }
}

TEST(FewerAtOnce, AsManyRunAsOnEachOfSoManyCpus) {
  struct Case {
    std::uint32_t cpus;
    int run;
  };
  for (const auto& [cpus, run] : {Case{1, 4}, Case{2, 2}, Case{3, 2}, Case{4, 1}, Case{9, 1}}) {
    const Working process(4, compute_for_ever);
    FewerAtOnce fewer(process.pid(), cpus);
    look_for(fewer, milliseconds(100));
    const std::map<char, int> states = process.threads_by_state();
    EXPECT_EQ(states.at('R'), run) << cpus;
    EXPECT_EQ(states.contains('t') ? states.at('t') : 0, 4 - run) << cpus;
    // The one that waits for them is let alone.
    EXPECT_EQ(states.at('S'), 1) << cpus;
  }
}

TEST(FewerAtOnce, AllGetOn) {
  const Working process(4, compute_for_ever);
  FewerAtOnce fewer(process.pid(), 4);
  constexpr Nanoseconds some{50'000'000};
  look_for(fewer, milliseconds(100));
  EXPECT_LT(process.that_took(some), 4);
  // Beside other programs later.
  for (int again = 0; again < 200 && process.that_took(some) < 4; ++again)
    look_for(fewer, milliseconds(100));
  EXPECT_EQ(process.that_took(some), 4);
}

TEST(FewerAtOnce, WhenSomeEndOrWaitOthersGoOn) {
  // Those that come first wait for the last one, which is held for their sake.
  const Working process(
      4,
      [] {
        static std::atomic<int> there = 0;
        if (const int mine = ++there; mine == 4) {
          there.notify_all();
        } else {
          const auto end = std::chrono::steady_clock::now() + milliseconds(30);
          while (std::chrono::steady_clock::now() < end) {
          }
          for (int seen = there; seen < 4; seen = there)
            there.wait(seen);
        }
      },
      [] { return 7; });
  FewerAtOnce fewer(process.pid(), 2);
  EXPECT_EQ(process.exit_status(fewer, std::chrono::seconds(20)), 7);
}

TEST(FewerAtOnce, AllGoOnWhenNobodyLooksAnyMore) {
  const Working process(4, compute_for_ever);
  {
    FewerAtOnce fewer(process.pid(), 4);
    fewer.look();
    fewer.look();
  }
  EXPECT_EQ(process.threads_by_state(), (std::map<char, int>{{'R', 4}, {'S', 1}}));
}

// Neither one that comes while a thread is held nor one that is what stops it.
TEST(FewerAtOnce, NoSignalIsLost) {
  static std::atomic<int> heard = 0;
  static std::atomic<bool> goes_on = true;
  const int counted = SIGRTMIN;  // each is kept, however many come
  struct sigaction count {};
  struct sigaction end {};
  struct sigaction before_count {};
  struct sigaction before_end {};
  count.sa_handler = [](int) { ++heard; };
  end.sa_handler = [](int) { goes_on = false; };
  ::sigaction(counted, &count, &before_count);
  ::sigaction(SIGUSR2, &end, &before_end);
  const Working process(
      4,
      [] {
        while (goes_on) {
        }
      },
      [] { return heard.load() % 251; });
  ::sigaction(counted, &before_count, nullptr);
  ::sigaction(SIGUSR2, &before_end, nullptr);
  std::atomic<int> sent = 0;
  std::atomic<bool> goes_on_sending = true;
  std::thread sender([&] {
    while (goes_on_sending) {
      for (const TaskTimes& task : task_times(process.pid()))
        sent += ::syscall(SYS_tgkill, process.pid(), task.thread, counted) == 0 ? 1 : 0;
    }
  });
  for (int times = 0; times < 800; ++times) {
    FewerAtOnce fewer(process.pid(), 4);
    fewer.look();
  }
  goes_on_sending = false;
  sender.join();
  ::kill(process.pid(), SIGUSR2);
  FewerAtOnce fewer(process.pid(), 1);
  EXPECT_EQ(process.exit_status(fewer, std::chrono::seconds(20)), sent % 251) << "of " << sent;
}

// What `test` says in a process that may use ptrace(2) for nothing.
bool without_ptrace(const std::function<bool()>& test) {
  const pid_t child = ::fork();
  if (child == 0) {
    // The number of the system call, and no other word of what seccomp(2) gives, is looked at.
    std::array<sock_filter, 4> filter{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                                       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
                                       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
    const sock_fprog program{filter.size(), filter.data()};
    const bool is_forbidden = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                              ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    ::_exit(is_forbidden && test() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(FewerAtOnce, ItIsKnownWhetherThreadsMayBeHeld) {
  EXPECT_TRUE(may_hold_threads()) << "the tests beside this one need ptrace(2)";
  EXPECT_TRUE(without_ptrace([] { return !may_hold_threads(); }));
}

// How a process ended is for those who wait for it, whichever of its threads is held then.
TEST(FewerAtOnce, OneThatIsKilledEnds) {
  for (const bool with_main_held : {false, true}) {
    const Working process(
        3, compute_for_ever, [] { return 0; }, with_main_held ? Main::works : Main::waits);
    FewerAtOnce fewer(process.pid(), 4);
    do {
      look_for(fewer, milliseconds(20));
    } while (with_main_held && process.state_of(process.pid()) != 't');
    ::kill(process.pid(), SIGKILL);
    EXPECT_EQ(process.exit_status(fewer, std::chrono::seconds(20)), 128 + SIGKILL);
  }
}

// Its threads end one after the other, and some of those that are held are to go on meanwhile.
TEST(FewerAtOnce, OneWithManyThreadsThatIsKilledEnds) {
  for (int repetition = 0; repetition < 20; ++repetition) {
    const Working process(60, compute_for_ever);
    FewerAtOnce fewer(process.pid(), 2);
    look_for(fewer, milliseconds(20));
    ::kill(process.pid(), SIGKILL);
    for (int looks = 0; looks < 50; ++looks)
      fewer.look();
    ASSERT_EQ(process.exit_status(fewer, std::chrono::seconds(5)), 128 + SIGKILL) << repetition;
  }
}

}  // namespace
}  // namespace longpole::recording
