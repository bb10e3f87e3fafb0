// The backward sweep itself (critical_path.h has the formula), open to whoever wants more than the
// weights while it passes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simulation/schedule.h"

namespace longpole::analysis {

// Neighbours in time are of different threads, far apart in memory: no hardware guesses the next.
inline constexpr std::size_t segments_ahead = 16;
template <typename A, typename B>
void prefetch_segment(const simulation::Schedule& schedule, std::size_t position,
                      const std::vector<A>& a, const std::vector<B>& b) {
  if (position >= schedule.by_end.size())
    return;
  const simulation::SegmentIndex index = schedule.by_end[position];
  __builtin_prefetch(&schedule.segments[index]);
  __builtin_prefetch(&a[index], 1);
  __builtin_prefetch(&b[index], 1);
}

// Fills `scaled` with P·λ of each segment's end, and `starts` with the number of running segments
// that start there; both must be zero and as long as the schedule's segments. `visit(index)` is
// called once for each segment, last end first, when its weight is known. Returns how many segments
// run from time 0.
template <typename Visit>
std::uint32_t sweep_backward(const simulation::Schedule& schedule, std::uint32_t cpus,
                             std::vector<std::int64_t>& scaled, std::vector<std::uint32_t>& starts,
                             Visit visit) {
  std::int64_t running = 0;  // after the node
  std::int64_t need = 0;     // max(running, cpus); nothing after the end of the program
  for (std::size_t i = schedule.by_end.size(); i-- > 0;) {
    prefetch_segment(schedule, i - segments_ahead, scaled, starts);
    const simulation::SegmentIndex index = schedule.by_end[i];
    const simulation::Segment& segment = schedule.segments[index];
    running += (segment.running ? 1 : 0) - std::int64_t{starts[index]};
    const std::int64_t need_before = std::max<std::int64_t>(running, cpus);
    scaled[index] += need_before - need;
    need = need_before;
    if (segment.released_by != simulation::no_segment) {
      scaled[segment.released_by] += scaled[index];
      starts[segment.released_by] += segment.running ? 1U : 0U;
    }
    visit(index);
  }
  return static_cast<std::uint32_t>(running);
}

}  // namespace longpole::analysis
