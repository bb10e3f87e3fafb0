// Paper VI Figure 5, word for word: shorten one segment, run the program again, see what the whole
// gained. Quadratic; the yardstick for the sweep.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/simulate.h"

namespace longpole::analysis {

// No two independent events fall together: then the weights of all segments are well defined.
[[nodiscard]] bool events_are_apart(const simulation::Schedule& schedule);

// cpus · (weight of `segment`): what the program gains, in nanoseconds times CPUs, when that
// segment is shortened by one nanosecond. The segment must be that long.
[[nodiscard]] simulation::TimesCpus brute_force_weight(const Recording& recording,
                                                       const simulation::Schedule& schedule,
                                                       simulation::SegmentIndex segment,
                                                       std::uint32_t cpus);

}  // namespace longpole::analysis
