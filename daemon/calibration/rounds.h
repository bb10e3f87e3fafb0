// What all measurements are made of: clocks, threads that stay on CPUs, rounds, and the middle of what these say. In nanoseconds.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <vector>

#include "recording/system.h"
#include "trace/types.h"

namespace longpole::calibration {

inline std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

inline std::int64_t now() {
  return recording::monotonic_ns();
}

// The calling thread.
inline void stay_on(std::initializer_list<std::uint32_t> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::uint32_t cpu : cpus)
    CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

inline void compute_until(std::int64_t end) {
  while (now() < end) {
  }
}

// Rounds of a measurement, at most so many, and fewer where other programs have the CPUs and each takes a time slice of theirs.
class Rounds {
 public:
  explicit Rounds(std::size_t most) : most_(most) {}
  bool next() { return done_++ < most_ && (done_ <= fewest || now() < end_); }

 private:
  static constexpr std::size_t fewest = 4;
  static constexpr std::int64_t longest = 200'000'000;
  std::size_t most_;
  std::size_t done_ = 0;
  std::int64_t end_ = now() + longest;
};

// Of at least one.
inline std::int64_t median(std::vector<std::int64_t> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

inline Nanoseconds at_least_none(std::int64_t time) {
  return Nanoseconds{std::max<std::int64_t>(0, time)};
}

}  // namespace longpole::calibration
