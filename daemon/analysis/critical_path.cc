#include "analysis/critical_path.h"

#include "analysis/sweep.h"

namespace longpole::analysis {

Weights extended_critical_path(const simulation::Schedule& schedule, std::uint32_t cpus) {
  Weights weights{cpus, std::vector<std::int64_t>(schedule.segments.size(), 0)};
  std::vector<std::uint32_t> starts(schedule.segments.size(), 0);
  sweep_backward(schedule, cpus, weights.scaled, starts, [](simulation::SegmentIndex) {});
  return weights;
}

}  // namespace longpole::analysis
