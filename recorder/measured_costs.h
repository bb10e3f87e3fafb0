// What recording costs, measured as it begins, for the daemon to take out again.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>

#include "events_space.h"
#include "longpole/raw_record.h"

namespace longpole::recorder {

// Sets the costs of `control`. The calling thread must have no log yet; what it records meanwhile nobody reads.
void measure_costs(longpole_control& control);

// The one of them that changes with how far the processor is ahead, once more in the midst of the program. The signals of the
// calling thread must be blocked, and nothing of what it measures may wait for a turn. What was in the memory is lost. Nothing where
// semaphores are another library's, which might lock what its caller here has locked.
void measure_exposed_cost_again(longpole_control& control, void* memory);
inline constexpr std::size_t kBytesToMeasureIn = kChunkBytes + kPageBytes;

inline std::int64_t monotonic_now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace longpole::recorder
