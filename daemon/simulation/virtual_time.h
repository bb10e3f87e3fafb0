// The virtual time of the `linux` scheduler: nanoseconds that pass more slowly the heavier a thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace longpole::simulation {

// Of each nice value from −20 (sched-nice-design.rst): each a tenth of the CPU, about, less than the
// one before.
inline constexpr std::int32_t heaviest_nice = -20;
inline constexpr std::array<std::int64_t, 40> nice_weights = {
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,  // -20 …
    9548,  7620,  6100,  4904,  3906,  3121,  2501,  1991,  1586,  1277,   // -10 …
    1024,  820,   655,   526,   423,   335,   272,   215,   172,   137,    // 0 …
    110,   87,    70,    56,    45,    36,    29,    23,    18,    15};    // 10 …
inline constexpr std::int64_t heaviest_weight = nice_weights.front();
inline constexpr std::int64_t weight_of_nice_0 = 1024;
[[nodiscard]] inline std::int64_t weight_of_nice(std::int32_t nice) {
  return nice_weights[static_cast<std::size_t>(nice - heaviest_nice)];
}

__extension__ using WideTime = __int128;

[[nodiscard]] inline std::int64_t virtual_of(std::int64_t time, std::int64_t weight) {
  if (weight == weight_of_nice_0) [[likely]]
    return time;
  return static_cast<std::int64_t>(WideTime{time} * weight_of_nice_0 / weight);
}

// Until so much virtual time has passed.
[[nodiscard]] inline std::int64_t real_of(std::int64_t virtual_time, std::int64_t weight) {
  if (weight == weight_of_nice_0) [[likely]]
    return virtual_time;
  return static_cast<std::int64_t>((WideTime{virtual_time} * weight + weight_of_nice_0 - 1) /
                                   weight_of_nice_0);
}

// The average of the virtual times of some threads, by weight.
struct AverageTime {
  WideTime sum = 0;         // Σ virtual time · weight
  std::int64_t weight = 0;  // Σ weight
  std::int64_t of_nobody = 0;

  void add(std::int64_t virtual_time, std::int64_t of_weight) {
    sum += WideTime{virtual_time} * of_weight;
    weight += of_weight;
  }
  [[nodiscard]] std::int64_t time() const {
    return weight == 0 ? of_nobody : static_cast<std::int64_t>(sum / weight);
  }
  // Who is not ahead of the average may be chosen.
  [[nodiscard]] bool eligible(std::int64_t virtual_time) const {
    return WideTime{virtual_time} * weight <= sum;
  }
};

}  // namespace longpole::simulation
