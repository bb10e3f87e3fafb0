// Work that threads took while others, who had been woken for it, waited for the CPU.
//
//   A   ├ signal ┤ takes ├ works ┤ takes ├ works ┤ …
//   B   waits …  │ woken, has no CPU … ──────────┤ finds nothing, and waits
//
// A pool of threads with one queue, such as that of Boost.Asio, wakes one for each piece of work. On one CPU who has it
// goes on and takes the next piece, and the next; on several the woken ones would have got them. Such a recording is one
// of threads that work one after the other, whatever number of CPUs it is simulated on.
#pragma once

#include <cstdint>

#include "recording/merged_run.h"

namespace longpole::recording {

struct TakenWork {
  std::uint64_t turns = 0;  // uses of the queue's mutex, each with what was computed until the next
  Nanoseconds cpu{};
};

// Of the mutex with which most was so taken, of those with whose conditions several threads wait and are woken one by one, by
// signals: a broadcast wakes more than there is work for.
[[nodiscard]] TakenWork work_taken_past_woken(const MergedRun& run);

}  // namespace longpole::recording
