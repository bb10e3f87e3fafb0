#include "recording/clock.h"

#include <algorithm>
#include <cmath>

namespace longpole::recording {
namespace {
constexpr double farthest_ns = 1e17;  // three years
}

StampClock::StampClock(std::vector<ClockPair> pairs) {
  std::sort(pairs.begin(), pairs.end(),
            [](const ClockPair& a, const ClockPair& b) { return a.tsc < b.tsc; });
  const ClockPair* before = nullptr;
  for (const ClockPair& pair : pairs) {
    if (before != nullptr && (pair.tsc == before->tsc || pair.monotonic_ns <= before->monotonic_ns))
      continue;
    if (before != nullptr)
      segments_.push_back({*before, static_cast<double>(pair.monotonic_ns - before->monotonic_ns) /
                                        static_cast<double>(pair.tsc - before->tsc)});
    before = &pair;
  }
}

std::int64_t StampClock::nanoseconds(std::uint64_t stamp) {
  if (segments_.empty())
    return 0;
  const auto starts_after = [&](std::size_t i) {
    return i < segments_.size() && stamp < segments_[i].from.tsc;
  };
  if (starts_after(last_) || (last_ + 1 < segments_.size() && !starts_after(last_ + 1))) {
    const auto next = std::upper_bound(
        segments_.begin(), segments_.end(), stamp,
        [](std::uint64_t value, const Segment& segment) { return value < segment.from.tsc; });
    last_ = next == segments_.begin() ? 0 : static_cast<std::size_t>(next - segments_.begin()) - 1;
  }
  const Segment& segment = segments_[last_];
  const double distance = stamp >= segment.from.tsc
                              ? static_cast<double>(stamp - segment.from.tsc)
                              : -static_cast<double>(segment.from.tsc - stamp);
  return segment.from.monotonic_ns +
         std::llround(std::clamp(distance * segment.ns_per_stamp, -farthest_ns, farthest_ns));
}

}  // namespace longpole::recording
