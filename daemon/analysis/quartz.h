// Quartz (Anderson and Lazowska, "Quartz: A Tool for Tuning Parallel Program Performance", 1990): one
// ranking of procedures, synchronisation objects and threads by normalized processor time, to be
// walked from the whole program down.
//
// Equation 1: normalized processor time = Σ over i of (processor time with i CPUs busy) / i, without
// time spent spinning. So it says how much of the elapsed time the code at hand accounts for; that
// of the whole program is the elapsed time less the time with no CPU busy. Each term of the sum is
// kept. Spinning is told apart as spinning.h says. A *total* takes in what is called, what threads do that are created meanwhile, and, of a
// lock, what is done while it is held (work_tree.h).
//
//   Quartz quartz(recording, schedule);         once for a recording
//   QuartzReport report = quartz.report(8, Scheduler::shared);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/study.h"
#include "analysis/work_tree.h"

namespace longpole::analysis {

// What a thread does at a moment. Spinning: it computes and only waits so (spinning.h). Ready: it could
// run and has no CPU. A wait for a lock that burns CPU time is spinning all along, though the simulated
// thread leaves its CPU to others meanwhile.
enum class ThreadState : std::uint8_t { busy, spinning, blocked, ready };
inline constexpr std::size_t thread_state_count = 4;

// Elapsed time, of all threads together, in one state.
struct StateTime {
  double time_ns = 0;
  double average_runnable = 0;      // threads that run or could run meanwhile; 0 without time
  std::vector<double> at_runnable;  // the time by that number, from 0; shorter where the rest is 0
};

// In nanoseconds.
struct QuartzTimes {
  double normalized_ns = 0;
  std::vector<double> terms_ns;  // of the sum, from 1 CPU busy; QuartzReport::most_busy says which
  std::array<StateTime, thread_state_count> states;
};

struct QuartzChild {
  std::size_t row = 0;                 // index into QuartzReport::rows
  double normalized_ns = 0;            // of the child, on behalf of this parent
  std::optional<std::uint64_t> calls;  // from the parent; none: not recorded
};

struct QuartzRow {
  Entity entity;
  QuartzTimes self;
  QuartzTimes total;
  // Entries of a function, acquisitions of and waits for an object; none where not recorded.
  std::optional<std::uint64_t> calls;
  // Of a thread: those that it created. Heaviest first. Σ normalized_ns = total less self.
  std::vector<QuartzChild> children;
};

// A place in the tree of work_tree.h, with all that is below.
struct QuartzNode {
  std::size_t parent = 0;  // an earlier one; the root is its own
  Entity entity;
  double normalized_ns = 0;
  double self_normalized_ns = 0;
  double blocked_ns = 0;
  double spinning_ns = 0;
  std::optional<std::uint64_t> calls;
  std::vector<double> terms_ns;
};

struct QuartzReport {
  std::uint32_t cpus = 1;
  double total_ns = 0;          // completion time
  std::uint32_t most_busy = 1;  // the last term is for so many CPUs busy
  bool more_busy = false;       // or more, and StateTime's last number for so many runnable or more
  // The program first; then by total.normalized_ns, by blocked time, by kind and by name. Without
  // what neither computed nor waited and was not called.
  std::vector<QuartzRow> rows;
  std::vector<QuartzNode> tree;  // children heaviest first, all of a parent before their children
};

class Quartz {
 public:
  // `schedule` is the ideal execution of `recording`; both must outlive this.
  Quartz(const Recording& recording, const simulation::Schedule& schedule);

  // Linear in the segments, times the numbers of threads that run at once, of which the largest
  // (from 256, fewer where there are very many rows) are taken together. Safe from many threads.
  [[nodiscard]] QuartzReport report(std::uint32_t cpus, Scheduler scheduler) const;

 private:
  void find_late();

  const Recording& recording_;
  const simulation::Schedule& schedule_;
  WorkTree tree_;
  std::uint32_t most_running_ = 0;
  // That start after a wait, or with their thread; in order of their starts.
  std::vector<simulation::SegmentIndex> late_;
};

}  // namespace longpole::analysis
