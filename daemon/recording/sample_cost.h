// What it takes the kernel to sample a thread: an interrupt, a record of where the thread was, and what they push out of the
// thread's caches. Nearly all of it is the interrupt. On a machine of its own that is a microsecond or two; a virtual one
// has to have each timer set and each interrupt delivered by its hypervisor, and a thousand samples a second made programs
// 1.5 to 2.5% longer on one.
#pragma once

#include <cstdint>
#include <filesystem>

namespace longpole::recording {

// Nanoseconds of CPU time a sample, measured on `cpu` by samples of this process with perf events as of PerfRings, in
// twenty milliseconds or so. 0 where none may be opened. `directory`: one of a run that has not begun. Of a process with
// one thread, which is on the CPUs that it was on before afterwards.
[[nodiscard]] std::int64_t cost_of_sample(std::uint32_t cpu,
                                          const std::filesystem::path& directory);

}  // namespace longpole::recording
