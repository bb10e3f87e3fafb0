// Neighbours in time are of different threads, far apart in memory, and what released them is
// elsewhere again: no hardware guesses the next.
#pragma once

#include "simulation/schedule.h"

namespace longpole::analysis {

// For a sweep along by_end: brings what stands at `position` and what released it near, in two
// steps; a position past the end is none. Always inlined: gcc 12 takes a function that does nothing but
// prefetch for one without effect, and drops the call.
template <typename T>
[[gnu::always_inline]] inline void prefetch_segment(const simulation::Schedule& schedule,
                                                    std::size_t position,
                                                    std::size_t farther_position,
                                                    const simulation::LargeArray<T>& by_segment) {
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

}  // namespace longpole::analysis
