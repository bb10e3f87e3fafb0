// What it takes the kernel to write down that a CPU went from one thread to another. The threads' clocks have it, and
// a program that changes threads 600,000 times a second seems half as long again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "recording/kernel_costs.h"
#include "recording/tracepoints.h"

namespace longpole::recording {

// By how much changes between two threads with perf events as of PerfRings take longer than between two without, made on
// `cpu` for some tens of milliseconds, with a little work of each before: such as yields make, and such as come of sleeping and
// waking each other. Nothing of samples, and 0 where no events may be opened. `directory`: one of a run that has not begun. Of a process with one
// thread, which is on the CPUs that it was on before afterwards.
[[nodiscard]] KernelCosts costs_of_recorded_switches(std::uint32_t cpu, std::uint32_t rate_hz,
                                                     const std::optional<Tracepoints>& tracepoints,
                                                     const std::filesystem::path& directory);

}  // namespace longpole::recording
