// What measurements are made of: rounds, and the middle of what these say. In nanoseconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recording/system.h"
#include "trace/types.h"

namespace longpole::recording {

// Rounds of a measurement, at most so many, and fewer where other programs have the CPUs and each takes a time slice of theirs.
class Rounds {
 public:
  explicit Rounds(std::size_t most) : most_(most) {}
  bool next() { return done_++ < most_ && (done_ <= fewest || monotonic_ns() < end_); }

 private:
  static constexpr std::size_t fewest = 4;
  static constexpr std::int64_t longest = 200'000'000;
  std::size_t most_;
  std::size_t done_ = 0;
  std::int64_t end_ = monotonic_ns() + longest;
};

// 0 of none.
inline std::int64_t median(std::vector<std::int64_t> times) {
  if (times.empty())
    return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

inline Nanoseconds at_least_none(std::int64_t time) {
  return Nanoseconds{std::max<std::int64_t>(0, time)};
}

}  // namespace longpole::recording
