// Machines that differ from one as little as a real computer does from what is assumed of it.
//
// A simulated program may owe its speed to which of two things at the same moment comes first. On a real
// computer that is chance, so a binding is worth what it still takes when it is disturbed: each CPU is
// slower by up to 1%, and what switches, migrations, wake-ups and calls take is anything from nothing to
// twice what is assumed (as for the intervals of analysis/confidence.h), each drawn for itself.
//
// Pure: of one machine always the same.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/machine.h"

namespace longpole::allocation {

inline constexpr std::size_t disturbance_count = 8;

struct Disturbance {
  simulation::Machine machine;
  std::uint32_t speed_left = 0;  // in thousandths, to the CPU that is slowed most

  // A completion time on that machine, without what slower CPUs explain of it: no more than the
  // undisturbed one if everything comes in the same order.
  [[nodiscard]] Nanoseconds without_slowdown(Nanoseconds total) const;
};

// `recorded`: the costs that the machine has where it says nothing of them.
[[nodiscard]] std::vector<Disturbance> disturbances(const simulation::Machine& machine,
                                                    const HostCosts& recorded);

}  // namespace longpole::allocation
