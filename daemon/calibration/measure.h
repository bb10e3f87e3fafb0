// Measures what calls and switches of threads take on this machine. One to two seconds of two CPUs, and up to seven
// where other programs want them.
//
// Calls: the fastest of many batches, of calls that wait for nobody and wake nobody. Context switches, blocking and
// releases on one CPU: recording/thread_changes.h. A hand-over: one thread posts a semaphore that another waits for on another
// CPU, which is idle and has slept for 20 us; until that one runs it takes the wake-up and the second half of what
// blocking does, and what the post itself takes is the release afar. To one that has slept for up to a millisecond:
// likewise, where that takes half as long again. To a CPU that is busy: likewise the interrupt, and a switch. A migration: how much
// longer a thread takes for a pass over 32 KiB behind a move to another CPU.
// A lock from afar: how much longer the lock, a change of what it guards and the unlock take behind another CPU's
// turn than behind the same one's. How often idle CPUs look: measure_idle_looks.h.
// Whether threads are packed: measure_packing.h.
// The middle one of many each, so that what else runs on the machine counts little; but for calls, at three moments.
#pragma once

#include <span>

#include "trace/recording.h"

namespace longpole::calibration {

// On threads of its own; the caller's stay on the CPUs where they are. What needs two CPUs and finds
// one is left 0.
//
// Errors: the system refuses a thread.
[[nodiscard]] Expected<HostCosts> measure_host_costs();

// Of what was measured at several moments, the middle one of each cost: a host changes what it does for other machines within
// seconds and from minute to minute, and these with it.
[[nodiscard]] HostCosts middle_of(std::span<const HostCosts> moments);

}  // namespace longpole::calibration
