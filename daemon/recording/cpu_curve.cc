#include "recording/cpu_curve.h"

#include <algorithm>

namespace longpole::recording {

void CpuCurve::add(std::int64_t time_ns, std::int64_t cpu_ns) {
  if (!points_.empty()) {
    time_ns = std::max(time_ns, points_.back().time);
    cpu_ns = std::max(cpu_ns, points_.back().cpu);
  }
  points_.push_back({time_ns, cpu_ns});
}

std::int64_t CpuCurve::at(std::int64_t time_ns) {
  if (points_.empty())
    return 0;
  if (time_ns < points_[last_].time)
    last_ = 0;
  // A few steps from where we were, or a search.
  for (int steps = 0; last_ + 1 < points_.size() && points_[last_ + 1].time <= time_ns; ++steps) {
    if (steps < 8) {
      ++last_;
      continue;
    }
    const auto after = std::upper_bound(
        points_.begin() + static_cast<std::ptrdiff_t>(last_), points_.end(), time_ns,
        [](std::int64_t t, const Point& point) { return t < point.time; });
    last_ = static_cast<std::size_t>(after - points_.begin()) - 1;
  }
  const Point& from = points_[last_];
  if (last_ + 1 == points_.size() || time_ns <= from.time)
    return from.cpu;
  const Point& to = points_[last_ + 1];
  const double share =
      static_cast<double>(time_ns - from.time) / static_cast<double>(to.time - from.time);
  return from.cpu + static_cast<std::int64_t>(share * static_cast<double>(to.cpu - from.cpu));
}

}  // namespace longpole::recording
