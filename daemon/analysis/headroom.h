// How much faster a function can get before another is the one to look at (thesis, Paper VI section
// 7 asks for it): the program is simulated again with the function's time shortened.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/accounts.h"

namespace longpole::analysis {

struct Headroom {
  double reduction = 0;
  FunctionId next;  // who leads then
};

// The smallest reduction of `leader`'s time, 0…1, at which another function has more critical time
// of its own on `cpus` CPUs; none: never. Found on a grid of 1/8 and then by bisection, to 1/16384,
// so a lead that is lost and won back within an eighth may be missed. `leader` has the most to
// begin with; `schedule` and `accounts` are those of `recording`.
[[nodiscard]] std::optional<Headroom> headroom_of_leader(const Recording& recording,
                                                         const simulation::Schedule& schedule,
                                                         const Accounts& accounts,
                                                         FunctionId leader, std::uint32_t cpus);

}  // namespace longpole::analysis
