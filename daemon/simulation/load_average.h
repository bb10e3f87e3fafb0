// What a thread, or all threads of a CPU, weighed of late in the `linux` scheduler (linux_fair.h): the
// weight of what could run, averaged so that what is 33.6 ms old counts half. With one weight while it
// has a CPU, how much a thread used one.
//
//   weight  ▁▁████▁▁▁▁     it counts from set_weight() on
//   average ▁▂▅▆▇▆▅▄▃▂     approaches it
//
// Source: Documentation/scheduler/schedutil.rst of the kernel, "PELT (Per Entity Load Tracking)".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simulation/virtual_time.h"

namespace longpole::simulation {

class LoadAverage {
 public:
  // Averages are in 1024ths of a weight.
  static constexpr std::int64_t unit = 1024;

  [[nodiscard]] std::int64_t at(std::int64_t now) const {
    const std::int64_t goal = weight_ * unit;
    if (average_ == goal || now <= since_)
      return average_;
    return goal + decayed(average_ - goal, now - since_);
  }
  // As it was when its weight last changed.
  [[nodiscard]] std::int64_t last() const { return average_; }
  [[nodiscard]] std::int64_t weight() const { return weight_; }

  void set_weight(std::int64_t weight, std::int64_t now) {
    average_ = at(now);
    since_ = now;
    weight_ = weight;
  }
  // A thread comes, or goes if that is negative, with what it weighed.
  void add(std::int64_t average, std::int64_t now) {
    set_weight(weight_, now);
    average_ += average;
  }
  void start(std::int64_t average, std::int64_t now) {
    average_ = average;
    since_ = now;
  }

 private:
  static constexpr int half_life_bits = 25;  // of nanoseconds
  static constexpr int step_bits = 20;
  static constexpr int fraction_bits = 32;
  // 2^(−i/32)
  static constexpr std::array<std::int64_t, 33> decay = {
      4'294'967'296, 4'202'935'003, 4'112'874'773, 4'024'744'348, 3'938'502'376, 3'854'108'391,
      3'771'522'796, 3'690'706'840, 3'611'622'603, 3'534'232'978, 3'458'501'653, 3'384'393'094,
      3'311'872'529, 3'240'905'930, 3'171'459'999, 3'103'502'151, 3'037'000'500, 2'971'923'842,
      2'908'241'642, 2'845'924'021, 2'784'941'738, 2'725'266'179, 2'666'869'345, 2'609'723'834,
      2'553'802'834, 2'499'080'105, 2'445'529'972, 2'393'127'307, 2'341'847'524, 2'291'666'561,
      2'242'560'872, 2'194'507'417, 2'147'483'648};

  static std::int64_t decayed(std::int64_t average, std::int64_t time) {
    const std::int64_t halvings = time >> half_life_bits;
    if (halvings > 60)
      return 0;
    const std::int64_t rest = time & ((std::int64_t{1} << half_life_bits) - 1);
    const auto step = static_cast<std::size_t>(rest >> step_bits);
    const std::int64_t within = rest & ((std::int64_t{1} << step_bits) - 1);
    const std::int64_t factor =
        decay[step] - ((decay[step] - decay[step + 1]) * within >> step_bits);
    return static_cast<std::int64_t>(WideTime{average} * factor >> (fraction_bits + halvings));
  }

  std::int64_t average_ = 0;
  std::int64_t since_ = 0;
  std::int64_t weight_ = 0;
};

}  // namespace longpole::simulation
