// What a simulated machine did, as text, so that a test reads as program in, intervals out. One line
// a thread:
//
//   A: cpu0 0-5 post, cpu0 5-7 end           computing on CPU 0; each stretch is named by its call
//   B: cpu1 0-1 wait, blocked 1-5 by A, runnable 5-6 after C, cpu0 6-8 end
//   C: cpu0 0-4 cut, sleep 4~6, end@6        the CPU was taken; off the CPU; in no time
//   D: lock@0, cpu1 0-3 spins, cpu1 3-4 end  tried for the lock until it had it, or lost the CPU
//   deadlock at 3: A lock since 3            only when there is one
//
// Times in milliseconds. `by` names who woke it, `after` who gave up the CPU that it got.
#pragma once

#include <string>

#include "simulation/simulator.h"

namespace longpole::simulation {

[[nodiscard]] std::string machine_table(const Recording& recording, const SimulatedRun& run);

// Reads a program, learns its condition counts, simulates it; the text of the error where that fails.
[[nodiscard]] std::string machine_table(const std::string& program, const Machine& machine);

}  // namespace longpole::simulation
