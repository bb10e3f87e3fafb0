#include <algorithm>

#include "simulation/simulate.h"

namespace longpole::simulation {

std::vector<ConcurrencyStep> concurrency(const Schedule& schedule) {
  std::vector<std::uint32_t> starts(schedule.segments.size(), 0);  // at the end of each segment
  std::uint32_t running = 0;
  for (const Segment& segment : schedule.segments) {
    if (!segment.running)
      continue;
    if (segment.released_by == no_segment)
      ++running;
    else
      ++starts[segment.released_by];
  }
  std::vector<ConcurrencyStep> steps{{Nanoseconds{}, running}};
  for (const SegmentIndex index : schedule.by_end) {
    const Segment& segment = schedule.segments[index];
    running += starts[index];
    running -= segment.running ? 1U : 0U;
    if (steps.back().time != segment.end) {
      if (steps.size() > 1 && steps[steps.size() - 2].running == steps.back().running)
        steps.pop_back();
      steps.push_back({segment.end, running});
    } else {
      steps.back().running = running;
    }
  }
  return steps;
}

TimesCpus shared_completion_times_cpus(const std::vector<ConcurrencyStep>& steps,
                                       std::uint32_t cpus) {
  TimesCpus sum = 0;
  for (std::size_t i = 1; i < steps.size(); ++i)
    sum += TimesCpus{(steps[i].time - steps[i - 1].time).count()} *
           std::max(steps[i - 1].running, cpus);
  return sum;
}

}  // namespace longpole::simulation
