// What calls take that wait for nobody and wake nobody, and those that make threads and wait for their end, into
// HostCosts::call. On the calling thread; the threads that it makes are gone when these return.
#pragma once

#include "trace/recording.h"

namespace longpole::calibration {

// The fastest of many batches each.
void measure_calls(HostCosts& costs);

// The middle one of many. Nothing where the system refuses threads.
void measure_threads(HostCosts& costs);

}  // namespace longpole::calibration
