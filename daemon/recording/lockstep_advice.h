// Whether a program should be recorded in lockstep, by what a recording on one CPU shows of it.
#pragma once

#include <vector>

#include "recording/merged_run.h"

namespace longpole::recording {

// Notices "spinning" (threads yield, or try in vain, again and again) and "work-handed-out" (threads that
// run the same function and take turns at a lock got very unequal shares of the work, as the first to run
// takes all where there is one CPU). Each names `--lockstep`. What spins without any recorded call, on a
// variable, does not show.
[[nodiscard]] std::vector<Notice> lockstep_advice(const MergedRun& run);

}  // namespace longpole::recording
