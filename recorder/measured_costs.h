// What recording costs, measured as it begins, for the daemon to take out again.
#pragma once

#include <time.h>

#include <cstdint>

#include "longpole/raw_record.h"

namespace longpole::recorder {

// Sets the costs of `control`. The calling thread must have no log yet; what it records meanwhile nobody reads.
void measure_costs(longpole_control& control);

inline std::int64_t monotonic_now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace longpole::recorder
