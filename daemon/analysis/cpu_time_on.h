// CPU time on several CPUs, as far as turns explain it. Threads that take turns on a CPU push each other's data out of its
// caches, and load them anew after each switch: on one CPU that was seen to take up to 46% of the CPU time of compressors.
// Runs on one CPU in long slices (recording/measured_run.h), with hardly any turns, tell how much it is.
//
//   one CPU     A B C D A B C D      who comes back finds the caches full of three others' data
//   two CPUs    A B A B A B A B      of one other's
//               C D C D C D C D
//
// What is lost is taken to be in proportion to the others: of n threads on P CPUs n / P - 1, and n - 1 on one. Of four
// threads two CPUs save two thirds so. Of four compressors, and of threads that walk 8 MiB each, 71 to 87% of what long
// slices save was seen to be saved on two CPUs, 6 rounds each; from hour to hour, with what else a host does, 36 to 84%.
//
// A simulation of so many CPUs takes it into account: RunInfo::cpu_time_on.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/validation.h"
#include "trace/recording.h"

namespace longpole::analysis {

// All on one CPU, the runs of the same rounds in the same order.
struct TurnRuns {
  std::vector<RealRun> usual;
  std::vector<RealRun> in_long_slices;
};

// For RunInfo::cpu_time_on: of 2, 4, … CPUs, up to where each of the `threads` that compute at once (RulesOfThumb) has one.
// Empty where more than a quarter of the rounds say that long slices save nothing, or half a percent is not saved.
[[nodiscard]] std::vector<CpuTimeOn> cpu_time_on(const TurnRuns& runs, std::uint32_t threads);

}  // namespace longpole::analysis
