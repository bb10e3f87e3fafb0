// What it takes the kernel to write down that a CPU went from one thread to another. The threads' clocks have it, and
// a program that changes threads 600,000 times a second seems half as long again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "recording/tracepoints.h"

namespace longpole::recording {

struct CostsOfSwitches {
  std::int64_t switch_ns = 0;      // a change of threads
  std::int64_t tracepoint_ns = 0;  // besides, that a thread goes to sleep, or that it is woken
};

// By how much changes between two processes with perf events as of PerfRings take longer than between two without, made on
// `cpu` for some ten milliseconds: such as yields make, and such as come of sleeping and waking each other. 0 where no
// events may be opened. `directory`: one of a run that has not begun. Of a process with one thread, which is on the CPUs
// that it was on before afterwards.
[[nodiscard]] CostsOfSwitches costs_of_recorded_switches(
    std::uint32_t cpu, std::uint32_t rate_hz, const std::optional<Tracepoints>& tracepoints,
    const std::filesystem::path& directory);

}  // namespace longpole::recording
