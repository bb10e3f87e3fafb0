// What every simulated schedule must fulfil by itself, whatever the program and the machine.
#pragma once

#include <array>
#include <string>

#include "simulation/simulator.h"

namespace longpole::simulation {

// What the rules hold for.
inline constexpr std::array all_schedulers = {SchedulerKind::linux_fair, SchedulerKind::fifo,
                                              SchedulerKind::linux_2_2, SchedulerKind::solaris};

// The first rule that is broken, in words; empty: none. For machines without costs, but for that
// of waking up a CPU, and without latency, all CPUs alike:
//  - a CPU runs one thread at a time, a thread is in one place at a time, on a CPU that it may use;
//  - a call is made when exactly the recorded CPU time was spent, not a nanosecond more or less;
//  - what released a stretch ended just then, or so long before as it takes to wake up a CPU; what gave it its
//    CPU, then or before the CPU stood idle;
//  - idle_beside_waiting();
//  - under `fifo`, nobody waits beside a CPU that it may use and that runs a thread of lower priority, for longer than it
//    takes to wake up a CPU.
[[nodiscard]] std::string broken_rule(const Recording& recording, const Machine& machine,
                                      const SimulatedRun& run);

// On machines with costs, too, but with enough LWPs: which CPU is idle beside which thread that waits and may run
// there, for longer than it takes to wake it up; under `linux`, where that takes time, for longer than 16 ms · CPUs
// and then three looks of an idle CPU, each of them 2 ms · CPUs after the one before, at a tick. Empty: none.
[[nodiscard]] std::string idle_beside_waiting(const Recording& recording, const Machine& machine,
                                              const SimulatedRun& run);

}  // namespace longpole::simulation
