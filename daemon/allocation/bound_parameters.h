// What the completion-time bound needs to know of a recorded program: n, V and z (thesis, Paper VII
// section 2), from its recording and the ideal execution of it.
//
// The signals counted for z: threads created, ends of threads that are joined, posts, unlocks,
// signals, messages sent, and one for each thread that a broadcast or a barrier lets go. Calls that
// failed are none.
#pragma once

#include <optional>

#include "allocation/bound.h"
#include "simulation/machine.h"
#include "simulation/schedule.h"
#include "trace/recording.h"

namespace longpole::allocation {

struct ProgramParameters {
  BoundParameters parameters;
  std::uint64_t signals = 0;
  Nanoseconds work{};   // CPU time of all threads
  Nanoseconds ideal{};  // completion time with a CPU for each thread and no latency
};

// `ideal` is of that recording, and did not end in a deadlock. Errors: no thread computes.
[[nodiscard]] Expected<ProgramParameters> bound_parameters(const Recording& recording,
                                                           const simulation::Schedule& ideal);

// A signal takes no longer than this, the waking up of an idle CPU included, so what is reached with that
// everywhere is reached.
[[nodiscard]] Nanoseconds latency_to_bound(const Recording& recording,
                                           const simulation::Machine& machine);

// The completion time that some binding to the CPUs of the machine surely has, or less, in nanoseconds:
// that of BoundFinder at latency_to_bound(). As in the paper, where threads that share a CPU take their turns in
// the best order; switches are in the recorded CPU times. None where nothing is known: of CPUs of
// different speeds, with costs of switching or of calls, of a program that stands still, or of one with
// more than most_bound_threads.
[[nodiscard]] std::optional<Rational> surely_reached(const Recording& recording,
                                                     const simulation::Schedule& ideal,
                                                     const simulation::Machine& machine);

}  // namespace longpole::allocation
