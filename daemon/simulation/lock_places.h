// On which CPU each lock was last used: where that is another one, the lock and what it guards are fetched from there
// (HostCosts::lock_afar). A unit of a semaphore counts as a lock. One run's, of one thread.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simulation/machine.h"
#include "trace/event_kinds.h"

namespace longpole::simulation {

class LockPlaces {
 public:
  // `cost`: of fetching a lock, in nanoseconds of CPU time; nothing is kept where it is 0. `objects`: the recording's.
  LockPlaces(std::int64_t cost, std::size_t objects)
      : cost_(cost), last_(cost != 0 ? objects : 0, no_cpu) {}

  // What the call, which did not wait, takes more on `cpu`. All of it counts when the lock is taken: programs that do nothing but
  // take locks came out nearer to real runs so than with half at the unlock.
  std::int64_t use(const Event& event, std::uint32_t cpu) {
    const bool takes = acquires_object(event.kind) && event.outcome == Outcome::ok;
    if (last_.empty() || (!takes && !gives_object_back(event.kind)))
      return 0;
    const std::uint32_t last = std::exchange(last_[event.subject], cpu);
    return takes && last != cpu && last != no_cpu ? cost_ : 0;
  }

 private:
  std::int64_t cost_;
  std::vector<std::uint32_t> last_;  // CPU, by object
};

}  // namespace longpole::simulation
