// The extended critical path by call path: what each way to a function is worth, as a tree of the
// user's own functions from the outermost inwards.
//
// Time is charged as in study.h. So over all paths that end in a function, the `self` values add up to
// those of its row there, and all of them, with the waiting, to the completion time. Functions of the
// system on the way are left out; calls of a function from several lines of another are one path.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/completion.h"
#include "simulation/schedule.h"
#include "trace/recording.h"

namespace longpole::analysis {

// In nanoseconds. `total`: with what is called from there.
struct CallPathRow {
  std::size_t parent = 0;  // an earlier row; of an outermost function, its own
  std::uint32_t depth = 0;
  FunctionId function;  // none: CPU time of which nothing is known
  double self_ns = 0;
  double total_ns = 0;
  double critical_self_ns = 0;
  double critical_total_ns = 0;
};

struct CallPathTable {
  std::uint32_t cpus = 1;
  double total_ns = 0;            // completion time on that many CPUs
  double waiting_ns = 0;          // critical time of sleeps and waits for I/O
  std::vector<CallPathRow> rows;  // callers before what they call, the heaviest path first
};

// `schedule` is an ideal execution of `recording`. Linear in the segments and the call paths.
[[nodiscard]] CallPathTable call_paths(const Recording& recording,
                                       const simulation::Schedule& schedule, std::uint32_t cpus,
                                       Scheduler scheduler);

}  // namespace longpole::analysis
