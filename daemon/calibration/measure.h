// Measures what calls and switches of threads take on this machine. About half a second of two CPUs.
//
// Calls: the fastest of many batches, of calls that wait for nobody and wake nobody. A hand-over: one
// thread posts a semaphore that another waits for; what that takes on one CPU, beside the two calls,
// is a context switch, and how much longer it takes across CPUs is the wake-up of an idle one. A
// migration: how much longer a thread takes for a pass over 32 KiB behind a move to another CPU.
// The middle one of many each, so that what else runs on the machine counts little.
#pragma once

#include "trace/recording.h"

namespace longpole::calibration {

// On threads of its own; the caller's stay on the CPUs where they are. What needs two CPUs and finds
// one is left 0.
//
// Errors: the system refuses a thread.
[[nodiscard]] Expected<HostCosts> measure_host_costs();

}  // namespace longpole::calibration
