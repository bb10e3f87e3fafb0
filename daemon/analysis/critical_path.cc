#include "analysis/critical_path.h"

#include <algorithm>

#include "analysis/prefetch.h"

namespace longpole::analysis {

using simulation::no_segment;
using simulation::SegmentIndex;

Weights extended_critical_path(const simulation::Schedule& schedule, std::uint32_t cpus) {
  Weights weights{cpus, simulation::LargeArray<std::int64_t>(schedule.segments.size(), 0)};
  simulation::LargeArray<std::int64_t>& scaled = weights.scaled;
  std::int64_t need_after = 0;  // nothing after the end of the program
  for (std::size_t i = schedule.by_end.size(); i-- > 0;) {
    prefetch_segment(schedule, i - near_ahead, i - far_ahead, scaled);
    const std::uint32_t running_before =
        i == 0 ? schedule.running_at_start
               : schedule.segments[schedule.by_end[i - 1]].running_after;
    const std::int64_t need_before = std::max(running_before, cpus);
    const SegmentIndex index = schedule.by_end[i];
    scaled[index] += need_before - need_after;
    need_after = need_before;
    const SegmentIndex released_by = schedule.segments[index].released_by;
    if (released_by != no_segment)
      scaled[released_by] += scaled[index];
  }
  return weights;
}

}  // namespace longpole::analysis
