#include "analysis/critical_path.h"

#include "analysis/sweep.h"

namespace longpole::analysis {

Weights extended_critical_path(const simulation::Schedule& schedule, std::uint32_t cpus) {
  Weights weights{cpus, simulation::LargeArray<std::int64_t>(schedule.segments.size(), 0)};
  sweep_backward(schedule, cpus, weights.scaled, [](simulation::SegmentIndex) {});
  return weights;
}

}  // namespace longpole::analysis
