// The backward sweep itself (critical_path.h has the formula), open to whoever wants more than the
// weights while it passes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "simulation/schedule.h"

namespace longpole::analysis {

// Fills `scaled` with P·λ of each segment's end, and `starts` with the number of running segments
// that start there; both must be zero and as long as the schedule's segments. `visit(index)` is
// called once for each segment, last end first, when its weight is known.
template <typename Visit>
void sweep_backward(const simulation::Schedule& schedule, std::uint32_t cpus,
                    std::span<std::int64_t> scaled, std::span<std::uint32_t> starts, Visit visit) {
  constexpr std::size_t ahead =
      16;  // segments of many threads: the processor cannot guess the next
  const std::vector<simulation::SegmentIndex>& by_end = schedule.by_end;
  std::int64_t running = 0;  // after the node
  std::int64_t need = 0;     // max(running, cpus); nothing after the end of the program
  for (std::size_t i = by_end.size(); i-- > 0;) {
    if (i >= ahead) {
      __builtin_prefetch(&schedule.segments[by_end[i - ahead]]);
      __builtin_prefetch(&scaled[by_end[i - ahead]], 1);
      __builtin_prefetch(&starts[by_end[i - ahead]], 1);
    }
    const simulation::SegmentIndex index = by_end[i];
    const simulation::Segment& segment = schedule.segments[index];
    running += (segment.running ? 1 : 0) - std::int64_t{starts[index]};
    const std::int64_t need_before = std::max<std::int64_t>(running, cpus);
    scaled[index] += need_before - need;
    need = need_before;
    if (segment.released_by != simulation::no_segment) {
      scaled[segment.released_by] += scaled[index];
      starts[segment.released_by] += segment.running ? 1 : 0;
    }
    visit(index);
  }
}

}  // namespace longpole::analysis
