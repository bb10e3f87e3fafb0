// A Recording as a real program leaves it, of any size: worker threads on one CPU that lock,
// compute and unlock, with the jitter of real clocks, now and then a wait for a lock, a condition
// variable, or other threads on the CPU. For measuring.
#pragma once

#include <cstdint>

#include "trace/recording.h"

namespace longpole::tests {

// `events` is rounded up to whole rounds of all threads.
[[nodiscard]] Recording synthetic_recording(std::size_t events, std::uint32_t threads);

}  // namespace longpole::tests
