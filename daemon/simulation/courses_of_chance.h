// The courses that chance can take in a run under `linux` (Machine::chance): how many a prediction is the middle of, and
// whether there is more than one.
//
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulation/machine.h"
#include "trace/recording.h"

namespace longpole::simulation {

inline constexpr std::uint32_t courses_of_chance = 5;
// With more events, a recording takes long to simulate, and the first course stands for all.
inline constexpr std::size_t most_events_for_chance = 4'000'000;

// Where waking up a CPU takes no time, as in program files, nothing is left to chance but ticks, and they begin with the
// run.
[[nodiscard]] bool depends_on_chance(const Recording& recording, const Machine& machine);

}  // namespace longpole::simulation
