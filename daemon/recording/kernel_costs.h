// What the kernel's writing takes of the CPU time of the thread that it writes about.
#pragma once

#include <cstdint>

namespace longpole::recording {

// Nanoseconds.
struct KernelCosts {
  std::int64_t switch_ns = 0;      // a change from a thread that could have gone on
  std::int64_t sleep_ns = 0;       // and from one that could not
  std::int64_t tracepoint_ns = 0;  // besides, that a thread goes to sleep, or that it wakes another
  std::int64_t sample_ns = 0;      // a sample, interrupt included
};

}  // namespace longpole::recording
