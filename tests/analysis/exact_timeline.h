// A simulated run as it is, stretch by stretch, for timelines to be held against.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "analysis/timeline.h"
#include "simulation/schedule.h"
#include "simulation/simulator.h"

namespace longpole::analysis {

using Time = std::int64_t;

struct ExactSpan {
  Time start;
  Time end;
  SpanState state;
  std::uint32_t event;
  auto operator<=>(const ExactSpan&) const = default;
};
struct ExactCall {
  Time time;
  std::uint32_t event;
  EventKind kind;
};
struct ExactThread {
  std::vector<ExactSpan> spans;
  std::vector<ExactCall> calls;
};
struct Exact {
  Time total = 0;
  std::uint32_t shared_cpus = 0;  // 0: every thread that runs has a CPU of its own
  std::vector<ExactThread> threads;
};

Exact exact_of(const Recording& recording, const simulation::Schedule& schedule,
               std::uint32_t shared_cpus);
Exact exact_of(const Recording& recording, const simulation::SimulatedRun& run);

}  // namespace longpole::analysis
