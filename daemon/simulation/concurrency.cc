#include <algorithm>

#include "simulation/simulate.h"

namespace longpole::simulation {

std::vector<ConcurrencyStep> concurrency(const Schedule& schedule) {
  std::vector<ConcurrencyStep> steps{{Nanoseconds{}, schedule.running_at_start}};
  for (const SegmentIndex index : schedule.by_end) {
    const Segment& segment = schedule.segments[index];
    if (steps.back().time != segment.end) {
      if (steps.size() > 1 && steps[steps.size() - 2].running == steps.back().running)
        steps.pop_back();
      steps.push_back({segment.end, segment.running_after});
    } else {
      steps.back().running = segment.running_after;
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
