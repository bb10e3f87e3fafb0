// The critical path as Intel Thread Profiler sees it: one flow of execution that passes from thread
// to thread where one lets the other go, and what each part of it does to the thread that comes
// next (Breshears, "Using Intel Thread Profiler for Win32 Threads: Philosophy and Theory").
//
//   T2  ├── cruise ──┼── impact ──┤ unlock L
//   T3      ├ runs ──┤ waits for L ┊overhead┊├── cruise ──┼─ blocking ─┼ …
//
// This is the plain longest path of one schedule, of weight one throughout; what a stretch is worth
// in the completion time on fewer CPUs than threads is told by its weight (critical_path.h).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/execution.h"
#include "simulation/schedule.h"
#include "trace/recording.h"

namespace longpole::analysis {

enum class PathClass : std::uint8_t {
  cruise,    // computes, and delays nobody who comes next on the path, or not alone
  overhead,  // between the call that lets a thread go and the moment it goes on
  blocking,  // off the CPU for something outside: a sleep, I/O, a wait that times out
  impact,    // computes, and alone keeps the thread that comes next on the path waiting
};
inline constexpr std::size_t path_class_count = 4;

// Where the path passes from one thread to another that had been waiting for it.
struct PathPassage {
  ThreadId from;
  ThreadId to;
  ObjectId object;    // what `to` waited for; none: for the end of `from`
  StackId waited_at;  // the calls; none where not recorded
  StackId released_at;
  Nanoseconds alone_since{};  // from then on nothing but `from` kept `to` waiting
};
inline constexpr std::uint32_t no_passage = 0xffffffffU;

struct PathStretch {
  Nanoseconds start{};
  Nanoseconds end{};
  ThreadId thread;  // that has the path; of overhead, the one that is about to go on
  PathClass kind = PathClass::cruise;
  std::uint32_t passage = no_passage;  // of impact: index into ClassifiedPath::passages
};

struct ClassifiedPath {
  // Without gaps or overlaps from the start of the schedule to its end, in order of time.
  std::vector<PathStretch> stretches;
  std::vector<PathPassage> passages;
};

// `schedule` belongs to `recording`. A segment that starts later than what released it ended was
// kept from its start by overhead. Whose wait several threads must end (all join, all arrive at the
// barrier, all readers leave) is delayed by one alone only when the others have done their part.
// Linear time, but for the unlocks of rwlocks on the path, which are sorted.
[[nodiscard]] ClassifiedPath classify_path(const Recording& recording,
                                           const simulation::Schedule& schedule);

// The same of a run on a machine (path.h): waking CPUs up and taking threads up is overhead. Who has
// the CPU that the next thread on the path waits for cruises: it is not that thread alone, but that all
// CPUs are taken, which the level of concurrency says.
[[nodiscard]] ClassifiedPath classify_path(const Execution& run);

}  // namespace longpole::analysis
