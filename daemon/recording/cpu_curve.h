// How much CPU time a thread had used at each moment: a rising line through known points, whichever
// source they come from.
//
//   cpu │            ┌─ off the CPU ─╱     context switches give the corners,
//       │       ╱────┘              ╱      readings of the thread's clock give points on the way
//       │     ╱
//       └──────────────────────────────▶ time
#pragma once

#include <cstdint>
#include <vector>

namespace longpole::recording {

class CpuCurve {
 public:
  // Points in order of time; one that goes back on either axis is lifted to the one before it.
  void add(std::int64_t time_ns, std::int64_t cpu_ns);

  // CPU time used until `time_ns`: flat before the first point and after the last. Cheap for
  // ascending times.
  [[nodiscard]] std::int64_t at(std::int64_t time_ns);

  [[nodiscard]] std::int64_t total() const { return points_.empty() ? 0 : points_.back().cpu; }
  [[nodiscard]] bool empty() const { return points_.empty(); }

  struct Point {
    std::int64_t time;
    std::int64_t cpu;
  };
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
  std::size_t last_ = 0;
};

}  // namespace longpole::recording
