// Recordings of any size for the benchmarks of the core.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/recording.h"

namespace longpole {

// `threads` threads that compute and take turns at locks, semaphores and a barrier, about `events`
// events together, spent in a hundred sampled profiles of functions of a source file. Calls of
// different length, so that the threads' events mix as those of a real program do.
[[nodiscard]] Recording busy_recording(std::uint32_t threads, std::size_t events);

// The same number of threads and events, but all of them take turns at one lock: on any number of CPUs
// most of them wait, and the critical path goes from one to the next at every second event.
[[nodiscard]] Recording contended_recording(std::uint32_t threads, std::size_t events);

}  // namespace longpole
