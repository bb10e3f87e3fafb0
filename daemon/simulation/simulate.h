// The simulator: runs the program that a Recording describes on a machine of our choice.
//
// Pure functions of their arguments; any number may run at once. DESIGN section 6; thesis Papers I,
// VI.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulation/schedule.h"
#include "simulation/wait_fors.h"
#include "trace/recording.h"

namespace longpole::simulation {

// A CPU for each thread. Locks, semaphores, channels are handed over in order of arrival, ties in
// thread order. Conditions behave as in the recording (Paper I section 6): a broadcast waits until
// as many threads have arrived as it released there; a signal that woke a thread there and comes
// before that wait is remembered. Where the recording says who ended which wait, and the condition
// is no barrier, a wait is for that very notification (condition_pairs.h). All costs are zero.
//
// That is the direct model. What `pairs` has (none: nothing) is simulated by them (models.h).
[[nodiscard]] Schedule simulate_ideal(const Recording& recording, const WaitFors* pairs);

// By the direct model; where the program stands still so, by client-server; where it does so again,
// by strict (Paper VIII section 7). Where it always does, as by the direct model.
[[nodiscard]] Schedule simulate_ideal(const Recording& recording);

// What the models need to know of the recorded run. Of a program file, that is a run on one CPU under
// fixed priorities; none where it stands still there, for then nobody knows who ends which wait.
[[nodiscard]] std::optional<WaitFors> pair_waits(const Recording& recording, const Models& models);

// How many threads run at each moment of a schedule: steps in order of time, the first at 0, the
// last at the end with 0 running.
struct ConcurrencyStep {
  Nanoseconds time{};
  std::uint32_t running = 0;
};
[[nodiscard]] std::vector<ConcurrencyStep> concurrency(const Schedule& schedule);

// A time multiplied by a number of CPUs, in nanoseconds: does not fit 64 bits for any input.
__extension__ using TimesCpus = __int128;

// Completion time under `shared` (Paper VI Figure 5): each time segment of the ideal execution
// takes max(n/P, 1) times as long. Exact: P times the completion time, in nanoseconds.
[[nodiscard]] TimesCpus shared_completion_times_cpus(const std::vector<ConcurrencyStep>& steps,
                                                     std::uint32_t cpus);

// What the recording's conditions did when run on one CPU: fills in the counts that program files
// leave open (`other` of condition_signal and condition_broadcast). Recordings pass through
// unchanged.
[[nodiscard]] Recording with_known_condition_counts(Recording recording);

}  // namespace longpole::simulation
