// A Schedule as text, so that a test reads as program in, intervals out. One line a thread:
//
//   A: run 0-5 post@5 run 5-7 end@7      computing from 0 to 5; the call at 5 took no time
//   B: wait@0 run 5-8 sleep 8~9 end@9    blocked from 0 to 5; off the CPU from 8 to 9
//   C: cut 0-8                           the program ended before its call
//   deadlock at 3: A lock since 3        only when there is one
//
// Times in milliseconds. A stretch of computing is named by the call that ends it.
#pragma once

#include <string>

#include "simulation/schedule.h"

namespace longpole::simulation {

// As tables have it.
[[nodiscard]] std::string in_milliseconds(Nanoseconds time);

[[nodiscard]] std::string schedule_table(const Recording& recording, const Schedule& schedule);

// Reads a program, learns its condition counts, simulates it.
[[nodiscard]] std::string ideal_table(const std::string& program);

}  // namespace longpole::simulation
