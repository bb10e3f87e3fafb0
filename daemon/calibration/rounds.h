// What all measurements are made of: threads that stay on CPUs, and recording/measuring.h. In nanoseconds.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <cstdint>
#include <initializer_list>

#include "recording/measuring.h"
#include "recording/system.h"

namespace longpole::calibration {

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

using recording::at_least_none;
using recording::median;
using recording::read_clock;
using recording::Rounds;

}  // namespace longpole::calibration
