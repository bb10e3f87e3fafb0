// The backward sweep itself (critical_path.h has the formula), open to whoever wants more than the
// weights while it passes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simulation/schedule.h"

namespace longpole::analysis {

// Neighbours in time are of different threads, far apart in memory, and what released them is
// elsewhere again: no hardware guesses the next. Brings what stands at `position` of by_end and what
// released it near, in two steps; a position past the end is none.
template <typename T>
void prefetch_segment(const simulation::Schedule& schedule, std::size_t position,
                      std::size_t farther_position, const simulation::LargeArray<T>& by_segment) {
  if (farther_position < schedule.by_end.size()) {
    const simulation::SegmentIndex farther = schedule.by_end[farther_position];
    __builtin_prefetch(&schedule.segments[farther]);
    __builtin_prefetch(&by_segment[farther], 1);
  }
  if (position < schedule.by_end.size()) {
    const simulation::Segment& segment = schedule.segments[schedule.by_end[position]];
    if (segment.released_by != simulation::no_segment)
      __builtin_prefetch(&by_segment[segment.released_by], 1);
  }
}
inline constexpr std::size_t near_ahead = 8;
inline constexpr std::size_t far_ahead = 24;

// Fills `scaled`, which must be zero and as long as the schedule's segments, with P·λ of each
// segment's end. `visit(index)` is called once for each segment, last end first, when its weight is
// known.
template <typename Visit>
void sweep_backward(const simulation::Schedule& schedule, std::uint32_t cpus,
                    simulation::LargeArray<std::int64_t>& scaled, Visit visit) {
  std::int64_t need_after = 0;  // nothing after the end of the program
  for (std::size_t i = schedule.by_end.size(); i-- > 0;) {
    prefetch_segment(schedule, i - near_ahead, i - far_ahead, scaled);
    const std::uint32_t running_before =
        i == 0 ? schedule.running_at_start
               : schedule.segments[schedule.by_end[i - 1]].running_after;
    const std::int64_t need_before = std::max(running_before, cpus);
    const simulation::SegmentIndex index = schedule.by_end[i];
    scaled[index] += need_before - need_after;
    need_after = need_before;
    const simulation::SegmentIndex released_by = schedule.segments[index].released_by;
    if (released_by != simulation::no_segment)
      scaled[released_by] += scaled[index];
    visit(index);
  }
}

}  // namespace longpole::analysis
