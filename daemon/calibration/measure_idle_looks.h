// How often a CPU that is idle looks for a thread that waits for another one.
//
//   one    A ├──┤ B ├──┤ A ├──┤ B ├──┤ A ├──┤ B ├──┤ A …   two threads in turns, of which one waits
//   other  ├ computes ┤     ·         ·         × B …        ×: takes it
//                     falls idle      looks, at ticks
//
// Slices end at ticks as looks come, so who waits has always just run, and its data is in the cache of the other CPU. The
// kernel takes such a thread on the third look in a row; so that is two of their intervals behind the first, which
// comes at one of the first two ticks. Where slices are longer than ticks, who waits may be taken at once, and nothing
// can be told: so it is with ticks of 1 ms.
//
// Source: sched_balance_domains(), can_migrate_task() and task_hot() of kernel/sched/fair.c, Linux 6.12 to 6.18.
#pragma once

#include <cstdint>

#include "trace/types.h"

namespace longpole::calibration {

// Of the system's clock: 1 s / CONFIG_HZ. 0: not known.
[[nodiscard]] Nanoseconds measure_tick();

// A multiple of the tick, where CPUs look more rarely than the kernel has it; 0: they do not, or it is not known. On threads of its own that have both CPUs for half a second, and a second at most.
[[nodiscard]] Nanoseconds measure_idle_looks(std::uint32_t one, std::uint32_t other,
                                             Nanoseconds tick);

}  // namespace longpole::calibration
