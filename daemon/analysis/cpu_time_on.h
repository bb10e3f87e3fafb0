// CPU time on several CPUs, as far as turns explain it. Threads that take turns on a CPU push each other's data out of its
// caches, and load them anew after each switch: on one CPU that was seen to take up to 46% of the CPU time of compressors,
// on two half of that, for there fewer threads take turns on each. Runs on one CPU tell how much it is:
//
//   usual            as the system has them take turns
//   in groups        as on so many CPUs (recording/turns_in_groups.h), where the user may do that; with a copy beside it on
//                    each other CPU, for CPUs share a cache, and who runs on one pushes the other's data out of it
//   in long slices   hardly any turns (recording/measured_run.h): nothing is lost
//
// A simulation of so many CPUs takes it into account: RunInfo::cpu_time_on.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/validation.h"
#include "trace/recording.h"

namespace longpole::analysis {

// All on one CPU, the runs of the same rounds in the same order.
struct TurnRuns {
  std::vector<RealRun> usual;
  std::vector<RealRun> in_long_slices;
  // By number of CPUs; empty: not to be had.
  std::map<std::uint32_t, std::vector<RealRun>> in_groups;
};

// In how many groups to run it to know of up to so many `cpus`: powers of two, up to where each of the
// `threads` that compute at once (RulesOfThumb) has a CPU.
[[nodiscard]] std::vector<std::uint32_t> groups_to_try(std::uint32_t cpus, std::uint32_t threads);

// For RunInfo::cpu_time_on. Never less than in long slices, and as on one CPU where more than a quarter of the
// rounds say that it is not less. Empty where not a percent is saved, in whole ones, on any number.
// Without groups it is taken to fall as the logarithm of the number of CPUs does, from usual on one to that in long slices on
// as many as there are `threads`.
[[nodiscard]] std::vector<CpuTimeOn> cpu_time_on(const TurnRuns& runs, std::uint32_t threads);

}  // namespace longpole::analysis
