// How often a program is sampled, to a second of CPU time.
#pragma once

#include <cstdint>

namespace longpole::recording {

// The ticks of the kernel to a second, at which it takes CPUs from threads; 250 as a rule, 0: it does not say.
[[nodiscard]] std::uint32_t kernel_ticks_hz();

// That rate, or the next lower one that is not in step with the ticks; 0: there is none. Threads that take turns on a CPU do so
// at ticks, and all samples would be of the same one or two places in each turn. A thread begins a turn by fetching its
// data into the caches again: of a line that has 8% of a program's time by 4,000 samples a second, and 3% where threads
// take no turns, 250 samples a second at 250 ticks made anything from 9 to 21%.
[[nodiscard]] std::uint32_t out_of_step_hz(std::uint32_t rate_hz, std::uint32_t ticks_hz);

// Where the user asks for no rate: default_rate_hz, or what takes half a percent of a program's CPU time at `sample_ns` a
// sample, if that is fewer; about a hundred at least, for else a program of a second would hardly be sampled at all.
// Not in step with the ticks.
[[nodiscard]] std::uint32_t affordable_rate_hz(std::int64_t sample_ns, std::uint32_t ticks_hz);

// What the recorder's timers on threads' CPU clocks can do: they expire at ticks alone. More than one sample a tick would
// be of one place, and the share of that seem known much better than it is.
[[nodiscard]] std::uint32_t rate_of_thread_timers(std::uint32_t wanted_hz, std::uint32_t ticks_hz);

}  // namespace longpole::recording
