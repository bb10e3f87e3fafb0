// What every simulated schedule must fulfil by itself, whatever the program and the machine.
#pragma once

#include <string>

#include "simulation/simulator.h"

namespace longpole::simulation {

// The first rule that is broken, in words; empty: none. For machines without costs and latency, all
// CPUs alike:
//  - a CPU runs one thread at a time, a thread is in one place at a time, on a CPU that it may use;
//  - a call is made when exactly the recorded CPU time was spent, not a nanosecond more or less;
//  - what released a stretch, or gave it its CPU, ended just then;
//  - no CPU is idle beside a thread that waits and may run there.
[[nodiscard]] std::string broken_rule(const Recording& recording, const Machine& machine,
                                      const SimulatedRun& run);

}  // namespace longpole::simulation
