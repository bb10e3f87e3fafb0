// The extended critical path: what each segment weighs in the completion time (DESIGN section 7,
// thesis Paper VI), by one backward sweep over the nodes of the ideal execution.
//
// The weight of a segment on P CPUs is λ(its end), and P·λ is a whole number:
//   P·λ(node) = max(n before, P) − max(n after, P) + Σ P·λ(end of each segment that starts there)
// with 0 in place of the second term at the end of the program. So weights are kept as whole
// numbers of 1/P and Σ scaled · length = P · completion time holds to the last nanosecond.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/schedule.h"

namespace longpole::analysis {

struct Weights {
  std::uint32_t cpus = 1;
  simulation::LargeArray<std::int64_t> scaled;  // parallel to Schedule::segments: weight · cpus

  [[nodiscard]] double weight(simulation::SegmentIndex segment) const {
    return static_cast<double>(scaled[segment]) / static_cast<double>(cpus);
  }
};

// `schedule` is an ideal execution, without deadlock or up to it. `cpus` ≥ 1. Linear time.
[[nodiscard]] Weights extended_critical_path(const simulation::Schedule& schedule,
                                             std::uint32_t cpus);

}  // namespace longpole::analysis
