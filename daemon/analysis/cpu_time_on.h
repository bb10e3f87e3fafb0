// CPU time on several CPUs, as runs on one CPU say. Threads that take turns on a CPU push each other's data out of its
// caches, and load them anew after each switch: on one CPU that was seen to take up to 46% of the CPU time of compressors, on
// two as much or a quarter of it, with the caches and what else a host does. On several CPUs fewer take turns on each:
//
//   one CPU     A B C D A B C D      who comes back finds the caches full of three others' data
//   two CPUs    A B A B A B A B      of one other's
//               C D C D C D C D
//
// and what CPUs share, a cache or the way to memory, is used by all at once. Both is so where a copy of the program runs on
// each of so many CPUs, and as many of its threads take turns at a time as there are for a CPU (recording/fewer_at_once.h). Copies
// have no data in common, as threads may have, and no page tables: of threads that use the same data it says too much, and of such
// as give memory back, or write to fresh memory that they have read before, a little too little: on several CPUs the others must
// hear of it.
//
// Where there are no such runs, those on one CPU in long slices (recording/measured_run.h), with hardly any turns, tell
// how much is lost to turns at all. That is taken to be in proportion to the others: of n threads on P CPUs n / P - 1, and n - 1
// on one. Of four threads two CPUs save two thirds so.
//
// A simulation of so many CPUs takes it into account: RunInfo::cpu_time_on.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/validation.h"
#include "trace/recording.h"

namespace longpole::analysis {

// The runs of the same rounds in the same order.
struct TurnRuns {
  // On one CPU.
  std::vector<RealRun> usual;
  std::vector<RealRun> in_long_slices;
  // By number of CPUs, the average of the copies; empty: not to be had.
  std::map<std::uint32_t, std::vector<RealRun>> of_copies;
};

// Of how many CPUs to ask, to know of up to so many `cpus`, for a program of which so many `threads` compute at once
// (RulesOfThumb): 2, 4, …, up to where each thread has one.
[[nodiscard]] std::vector<std::uint32_t> cpu_counts_to_try(std::uint32_t cpus,
                                                           std::uint32_t threads);

// For RunInfo::cpu_time_on, of these numbers of CPUs. Copies, which are on several CPUs, are held against usual runs
// `on_average_cpu` of the same rounds. The median of the rounds counts, however far they differ: to take it for nothing where
// rounds contradict each other foretold the CPU time of 22 programs on two CPUs no better. Empty where it is as on one CPU on
// all, to half a percent.
[[nodiscard]] std::vector<CpuTimeOn> cpu_time_on(const TurnRuns& runs,
                                                 const std::vector<RealRun>& on_average_cpu,
                                                 std::uint32_t threads);

}  // namespace longpole::analysis
