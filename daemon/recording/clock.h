// Time stamps → CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <vector>

#include "recording/run_files.h"

namespace longpole::recording {

// A straight line between each two neighbouring pairs, and on beyond the first and last, so that it
// follows the clock also where the system corrects its rate. Stamps far outside, as damaged records
// have, give times far outside, never an overflow.
class StampClock {
 public:
  // `pairs` in any order; pairs that contradict the others (either clock going back) are left out.
  explicit StampClock(std::vector<ClockPair> pairs);

  // Nanoseconds of CLOCK_MONOTONIC. Not const: it remembers where it was, so that ascending stamps
  // cost nothing to look up.
  [[nodiscard]] std::int64_t nanoseconds(std::uint64_t stamp);

  // Whether there were two pairs to draw a line through.
  [[nodiscard]] bool usable() const { return !segments_.empty(); }

 private:
  struct Segment {
    ClockPair from;
    double ns_per_stamp;
  };
  std::vector<Segment> segments_;
  std::size_t last_ = 0;
};

}  // namespace longpole::recording
