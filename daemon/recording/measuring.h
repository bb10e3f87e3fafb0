// What measurements are made of: clocks, threads that wait for their turn, bytes that they change, rounds, and the middle of what
// these say. In nanoseconds.
#pragma once

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recording/system.h"
#include "trace/types.h"

namespace longpole::recording {

inline std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// While it lives the calling thread, and those that it creates meanwhile, do not take the CPU from who wakes them (sched(7),
// SCHED_BATCH): where they do so now and then, a turn of two has one wait in place of two.
class NoPreemption {
 public:
  NoPreemption() { set(SCHED_BATCH); }
  ~NoPreemption() { set(SCHED_OTHER); }
  NoPreemption(const NoPreemption&) = delete;
  NoPreemption& operator=(const NoPreemption&) = delete;

 private:
  static void set(int policy) {
    const sched_param none{};
    ::sched_setscheduler(0, policy, &none);
  }
};

// Bytes that a thread changes again and again.
template <std::size_t bytes>
class WorkingSet {
 public:
  void pass() {
    for (std::size_t i = 0; i < bytes; i += line)
      bytes_[i] = static_cast<unsigned char>(bytes_[i] + 1U);
  }

 private:
  static constexpr std::size_t line = 64;
  std::array<volatile unsigned char, bytes> bytes_{};
};

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
