// Of a program's threads, which take turns on one CPU, only some run at a time: as on several CPUs, where fewer take turns on
// each. What they lose to each other's caches is then what they would lose there.
//
//   on one CPU      A B C D A B C D A B C D      whoever comes back finds the caches full of three others' data
//   as if on two    A B A B A B B C B C C D      of one other's, as where two CPUs have two threads each
//
// Where they do not come out even, as many as on the CPU that has most: the kernel moves one of three threads over between two
// CPUs again and again, so that none has the caches of one to itself for long. With one CPU's share after another's, a turn
// each, zstd saved 17% of the CPU time where two CPUs saved 11%, and this 12% (medians of 24 rounds beside each other).
//
// The others are held: stopped by ptrace(2), which takes no privileges, and which they do not see. Like an outsider who
// attaches and detaches again, it has no thread for longer than it is held.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

namespace longpole::recording {

// Whether this system lets a process stop threads of its children: not where kernel.yama.ptrace_scope is 2 or more, nor in
// some containers.
[[nodiscard]] bool may_hold_threads();

// Of one process, a child of this one, whose threads are all on one CPU. All by one thread, as ptrace(2) has it.
class FewerAtOnce {
 public:
  // As on so many `cpus`, at least 1, which share out the threads that could run at a time.
  FewerAtOnce(pid_t process, std::uint32_t cpus) : process_(process), cpus_(cpus) {}
  // All go on.
  ~FewerAtOnce();
  FewerAtOnce(const FewerAtOnce&) = delete;
  FewerAtOnce& operator=(const FewerAtOnce&) = delete;

  // To be called again and again, until the process has ended and been waited for, or this is gone: threads start, wait and
  // end, and those that are held take turns with the others, so that all get on and none waits for ever for what a held one
  // would do. A thread that may not be held runs on. After each, as many run as could on each of the CPUs, or will at the next.
  void look();

  [[nodiscard]] pid_t process() const { return process_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Held {
    pid_t thread = 0;
    bool has_stopped = false;
    int signal = 0;  // that came meanwhile, for when it goes on
  };
  struct Let {
    Clock::time_point since;
    Clock::duration at_work{};  // how long it wanted to run, as far as looks say
  };

  void hear_of_held();
  void hold(pid_t thread);
  // The one that has been held longest, or what is left of it. False: there is none, or it has not stopped yet.
  bool let_go();
  // Those that are not held and run or wait for a CPU just now; those that have been let for longest first.
  [[nodiscard]] std::vector<pid_t> at_work();

  pid_t process_;
  std::uint32_t cpus_;
  std::vector<Held> held_;  // longest first
  std::map<pid_t, Let> let_;
  Clock::time_point last_look_ = Clock::now();
};

}  // namespace longpole::recording
