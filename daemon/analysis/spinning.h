// Computing that only waits: what Quartz calls spinning (Anderson and Lazowska, section 2.2), told apart
// from busy because nobody gains from it.
//
// Two ways to spin show in a recording.
//  - A lock that burns CPU time while it waits (Event::spins(): pthread_spin_lock). Its recorded CPU time
//    was taken out when it was recorded, and what it would be is simulated: under schedulers that know
//    CPUs as one that keeps its CPU (simulator.h), in an ideal execution as one off the CPU. All of that
//    wait, as long as the lock is not to be had, is spinning.
//  - A loop of calls in vain: yields, and try-operations that found their object taken. At least
//    `shortest_row` of them with no more than `next_to_nothing` of computing between two are a row; what
//    is computed between them is spinning, and what leads from the last one straight to the
//    try-operation that goes well, if it is no more than that either. It is CPU time like any other and
//    simulated as recorded.
// A loop over a variable without any call does not show.
#pragma once

#include <vector>

#include "simulation/schedule.h"
#include "trace/recording.h"

namespace longpole::analysis {

inline constexpr std::size_t shortest_row = 3;
inline constexpr Nanoseconds next_to_nothing{20'000};

// By segment: it computes in a loop of calls in vain. Empty: none does.
[[nodiscard]] std::vector<bool> spinning_segments(const Recording& recording,
                                                  const simulation::Schedule& schedule);

}  // namespace longpole::analysis
