// Whether a program should be recorded in lockstep, by what a recording on one CPU shows of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recording/merged_run.h"

namespace longpole::recording {

// Notices "spinning" (threads yield, or try in vain, again and again, for a tenth of the run or more), "work-handed-out" (of threads that run
// the same function and take turns at a lock, one took it far more often than the others and did far more
// of the work, as the first to run takes all where there is one CPU; or much of it was taken while others waited
// for the CPU who had been woken for it, taken_work.h) and "work-stolen" (threads that run
// the same function try each other's locks, so that time decides who gets what). Each names `--lockstep`.
[[nodiscard]] std::vector<Notice> lockstep_advice(const MergedRun& run);

// The code of a notice: the program waits in loops. No recorded call tells how long, and no simulation knows of it.
inline constexpr std::string_view waiting_loops = "waiting-loops";

// That notice: so much of the CPU time went into loops that wait on a variable, without any recorded
// call (waiting_samples.h), most of it at `place`.
[[nodiscard]] Notice waiting_loops_notice(double share, const std::string& place);

// Whether the notice is one of those.
[[nodiscard]] bool advises_lockstep(const Notice& notice);
// Of these, whether it says that threads use up what time they wait.
[[nodiscard]] bool says_that_it_spins(const Notice& notice);

}  // namespace longpole::recording
