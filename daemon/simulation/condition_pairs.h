// Which signal or broadcast each wait for a condition waited for in the recording.
//
// A program tests a predicate around its waits, and the recorder cannot see it. In a recording that
// says who woke whom, a wait therefore waits for the very notification that ended it there (DESIGN
// section 6, Wait_for): it is over at once where that one comes first. A queue whose consumers are
// all woken, find nothing and wait again, as in pigz, then comes out in any order of events.
//
// A condition used as a barrier is left out: there it is the number of threads that counts, and the
// last to arrive need not be the one that was last in the recording. It is taken for one when all
// it ever saw were broadcasts that woke the same n threads, and n + 1 threads used it equally often.
// Left out, too, are conditions with a wait of which nobody knows who ended it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/recording.h"

namespace longpole::simulation {

class ConditionPairs {
 public:
  explicit ConditionPairs(const Recording& recording);

  [[nodiscard]] bool paired(std::uint32_t condition) const { return paired_[condition]; }

  // For the waits of a thread on paired conditions, in order: how many notifications, on any
  // condition, the waker of that wait has made once it made the one that ended it.
  [[nodiscard]] std::span<const std::uint32_t> waits(std::uint32_t thread) const {
    return waits_[thread];
  }

 private:
  struct Notification;
  void find_barriers(const Recording& recording);
  void pair(const Recording& recording);

  std::vector<bool> paired_;  // per object
  std::vector<std::vector<std::uint32_t>> waits_;
};

}  // namespace longpole::simulation
