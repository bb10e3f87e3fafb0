// The heaviest path: of all chains of segments that release one another, from the start of the
// program on, the one with the most Σ weight · length, with the wake-ups between its threads. With a
// CPU for each thread it is the plain critical path, and as long as the program.
//
// On a machine it is the chain of whatever each stretch waited for last: another thread's call, or
// that another thread gave up its CPU.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/critical_path.h"
#include "simulation/schedule.h"
#include "trace/recording.h"

namespace longpole::analysis {

// A segment on the path; those without length are left out.
struct PathStep {
  simulation::SegmentIndex segment = simulation::no_segment;  // on a machine: its part
  ThreadId thread;
  std::uint32_t event = 0;  // that it computes towards, or waits in
  Nanoseconds start{};
  Nanoseconds end{};
  double weight = 0;
  bool running = true;  // false: a sleep, I/O or other wait of fixed length
  // The path came over from another thread: its call let this one go. none: it did not.
  ThreadId woken_by;
  std::uint32_t wake_event = 0;  // that call, of `woken_by`; only where that is known
  // The path came over from another thread: this one waited for its CPU. none: it did not.
  ThreadId cpu_from;
};

// In order of time; each starts where the one before ends.
[[nodiscard]] std::vector<PathStep> heaviest_path(const simulation::Schedule& ideal,
                                                  const Weights& weights);

// Its segments, with those without length.
[[nodiscard]] simulation::LargeArray<simulation::SegmentIndex> heaviest_chain(
    const simulation::Schedule& ideal, const Weights& weights);

class Execution;
// Of a run on a machine, where each step weighs 1. In order of time; each starts where the one before
// ends, or later by what it takes to wake a CPU up and to take a thread up there.
[[nodiscard]] std::vector<PathStep> machine_path(const Execution& run);

}  // namespace longpole::analysis
