// Threads that share one CPU take turns in groups, as if each group had a CPU of its own: what they lose to each other's
// caches is then what they would lose on so many CPUs.
//
//   usual       A B C D A B C D A B C D A B C D      whoever comes back finds the caches full of three others' data
//   two groups  A B A B A B A B C D C D C D C D      of one other's, as where two CPUs have two threads each
//
// A thread that is not of the group whose turn it is gets SCHED_IDLE: it has the CPU when nobody else wants it, so that
// nothing can stand still. To take that back needs CAP_SYS_NICE (sched(7), SCHED_IDLE).
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "trace/types.h"

namespace longpole::recording {

// Whether this process may have threads take turns in groups.
[[nodiscard]] bool may_group_turns();

// How long a group has the CPU to itself: ten slices of the system's, of which each thread's first finds the caches full
// of another group's data.
inline constexpr Nanoseconds group_turn{40'000'000};

// A thread as it was found when a turn ended.
struct ThreadInTurn {
  pid_t thread = 0;
  Nanoseconds cpu_time{};  // so far
  Nanoseconds in_turn{};   // of it, since the turn began
  bool held_back = false;  // it was not of the group whose turn it was
};

// Who is held back in the next turn, in order. The threads that want the CPU, which are those that had a slice of it or were
// kept from it, fall into `groups` of the same size. Those that have had least CPU time so far come next: all advance
// alike.
[[nodiscard]] std::vector<pid_t> held_back_next(std::span<const ThreadInTurn> threads,
                                                std::uint32_t groups);

// While it lives the threads of `process` take turns so. Its own thread looks at them, on another CPU than `cpu`, which they
// share, if there is one. Threads that are not SCHED_OTHER are left alone. One that is SCHED_IDLE when it is first seen, while
// others are held back, is taken for the child of one of these, which has that from it.
class TurnsInGroups {
 public:
  TurnsInGroups(pid_t process, std::uint32_t groups, std::uint32_t cpu);
  ~TurnsInGroups();
  TurnsInGroups(const TurnsInGroups&) = delete;
  TurnsInGroups& operator=(const TurnsInGroups&) = delete;

 private:
  struct Known {
    Nanoseconds cpu_time{};
    bool held_back = false;
  };

  void run();
  void end_turn();
  static void hold_back(pid_t thread, Known& known, bool wanted);

  pid_t process_;
  std::uint32_t groups_;
  std::uint32_t cpu_;
  std::unordered_map<pid_t, Known> known_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;  // under mutex_
  std::thread thread_;
};

}  // namespace longpole::recording
