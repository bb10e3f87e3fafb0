// What each thread did and what it weighs: its critical time, and where its time went in the ideal
// execution.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/completion.h"
#include "simulation/schedule.h"
#include "trace/recording.h"

namespace longpole::analysis {

struct ThreadRow {
  ThreadId thread;
  Nanoseconds start{};
  Nanoseconds end{};
  Nanoseconds running{};
  Nanoseconds waiting{};           // sleeps, I/O and other waits of fixed length
  Nanoseconds blocked{};           // for other threads
  double critical_ns = 0;          // Σ weight · length of what it computes
  double critical_waiting_ns = 0;  // and of its waits of fixed length
};

struct ThreadTable {
  std::uint32_t cpus = 1;
  double total_ns = 0;
  std::vector<ThreadRow> rows;  // most critical time first, ties in thread order
};

// `ideal` is the ideal execution of `recording`. Threads that never started have no row.
[[nodiscard]] ThreadTable thread_table(const Recording& recording,
                                       const simulation::Schedule& ideal, std::uint32_t cpus,
                                       Scheduler scheduler);

}  // namespace longpole::analysis
