// Run: what each thread did on one time axis, as the formats of other tools are written from it: a
// recorded run, or a simulated one (analysis/execution.h).
//
//   thread  ├ ready ┤─ computing ─┤ blocked ├─ computing ─┤      stretches: without length, left out
//                            call ▲         ▲ wake             (its CPU time may be there all the same)
//
// Of a recorded run it is not known when within the time between two calls a thread had the CPU: its
// CPU time is put before the later call, where it was surely there, and the rest before that. And a
// call took what it took, waiting for a CPU behind the end of its wait included.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/execution.h"
#include "trace/recording.h"

namespace longpole::exporting {

struct Stretch {
  Nanoseconds start{};
  Nanoseconds end{};
  Nanoseconds work{};  // CPU time, of which several threads that share a CPU have less than time
  double critical_ns = 0;                  // Σ weight · work
  std::uint32_t event = 0;                 // that it computes towards, or waits in
  std::uint32_t cpu = simulation::no_cpu;  // no_cpu: not known
  analysis::SpanState state = analysis::SpanState::running;
};

struct Call {
  Nanoseconds time{};
  std::uint32_t event = 0;
};

// A call of one thread let another go on.
struct Wake {
  std::uint32_t from = 0;
  std::uint32_t event = 0;  // of `from`
  Nanoseconds from_time{};
  std::uint32_t to = 0;
  Nanoseconds to_time{};
};

struct RunThread {
  std::vector<Stretch> stretches;  // in order of time
  std::vector<Call> calls;         // in order of time
};

struct Run {
  std::shared_ptr<const Recording> recording;
  std::string program;
  std::string made_by;     // "recorded", "simulated on 4 CPUs, scheduler linux"
  bool has_axis = true;    // false: threads have no times in common, for nobody has run it
  bool simulated = false;  // weights and the path are known
  Nanoseconds total{};
  std::vector<RunThread> threads;
  std::vector<Wake> wakes;  // by `to`, in order of time
  std::vector<analysis::PathPart> path;
};

[[nodiscard]] Run recorded_run(std::shared_ptr<const Recording> recording, std::string program);
// `scheduler` is for people.
[[nodiscard]] Run simulated_run(const analysis::Execution& execution, std::string program,
                                const std::string& scheduler);

}  // namespace longpole::exporting
