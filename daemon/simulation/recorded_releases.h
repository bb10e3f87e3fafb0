// Which calls of the recorded run let threads go on that waited. What that took is part of the caller's CPU time up to
// its next event, and of no other thread's: a simulation in which others wait takes it out there.
//
//   waiter  ├ wait … waker=W ───────────────┤ its end
//   W                  ├ unlock ├ lock ├ … ┤           the last call on what is waited for before that: one release
//
// Single-threaded; made once per recording, and read by any number of threads then.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/recording.h"

namespace longpole::simulation {

class RecordedReleases {
 public:
  // Finds nothing where the recording does not say what a release took.
  explicit RecordedReleases(const Recording& recording);

  // How many threads the call let go on; at most `most`.
  [[nodiscard]] std::uint32_t made_by(std::size_t thread, std::size_t event) const {
    return of_.empty() ? 0 : of_[thread][event] & most;
  }
  // That it is known by which call the wait ended.
  [[nodiscard]] bool ended(std::size_t thread, std::size_t wait) const {
    return !of_.empty() && (of_[thread][wait] & found) != 0;
  }

  static constexpr std::uint8_t most = 0x7f;

 private:
  static constexpr std::uint8_t found = 0x80;

  std::vector<std::vector<std::uint8_t>> of_;  // by thread and event
};

}  // namespace longpole::simulation
