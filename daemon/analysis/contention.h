// What threads wait for: each lock, condition, semaphore, barrier, device and channel, with who waits
// for whom, where, and what it would bring if nobody ever waited for it.
//
// Waiting times are those of the ideal execution: a CPU for each thread, so that nobody waits for a
// CPU as well. A wait for a condition includes the wait for its mutex afterwards. A lock is held from
// the return of the call that takes it to the call that gives it back; a semaphore is a lock where
// every thread waits for it and posts it in turn.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/completion.h"
#include "simulation/schedule.h"
#include "trace/recording.h"

namespace longpole::analysis {

// A line that takes it, or waits for it.
struct ObjectLine {
  FileId file;  // none: not recorded
  std::uint32_t line = 0;
  FunctionId function;
  std::uint64_t acquisitions = 0;
  Nanoseconds wait{};
};

// Two threads that collide: `waiter` waited until `waker` let it go.
struct Collision {
  ThreadId waker;
  ThreadId waiter;
  std::uint64_t times = 0;
  Nanoseconds wait{};
};

struct ObjectRow {
  ObjectId object;
  std::uint64_t acquisitions = 0;  // calls that take it or wait for it, and returned
  std::uint64_t contended = 0;     // of these, those that had to wait
  Nanoseconds wait{};
  Nanoseconds longest_wait{};
  std::optional<Nanoseconds> hold;  // none: it is not held. Of a device: how long it serves
  Nanoseconds longest_hold{};
  // How long so many threads waited for it at a time: [0] is none, up to the end of the program.
  std::vector<Nanoseconds> queue;
  // Σ weight · length of what is computed, slept and read while it is held; none: it is not held.
  std::optional<double> critical_ns;
  // The completion time if nobody ever waited for it; none: not simulated (most_simulated).
  std::optional<double> freed_ns;
  std::vector<ObjectLine> lines;      // most waiting first, then most acquisitions
  std::vector<Collision> collisions;  // most waiting first
};

struct ObjectTable {
  std::uint32_t cpus = 1;
  double total_ns = 0;
  std::vector<ObjectRow> rows;  // by what freeing them brings, then by waiting, then by name
};

// Simulations are what takes time: those with the most waiting are simulated. Where nobody waits,
// nothing is gained, without any.
inline constexpr std::size_t most_simulated = 32;

// `ideal` is the ideal execution of `recording`, whose conditions have known counts. Objects that no
// call was made on have no row.
[[nodiscard]] ObjectTable contention(const Recording& recording, const simulation::Schedule& ideal,
                                     std::uint32_t cpus, Scheduler scheduler);

}  // namespace longpole::analysis
