// Threads that poll: they wait for a fixed time, look whether something has been done, and wait again.
//
//   poller   ├ sleep ┤look├ sleep ┤look├ sleep ┤look, and goes on
//   other    ├──────────── works ─────────┤ done
//
// How often it looks is chance of that run: where the others are done sooner, it waits less often. So such a row of
// waits becomes one wait for what ended it, and then what was left of the last one; that the recorded run shows how
// late it was noticed.
//
//   poller   ├ wait for a semaphore ──────┤ sleep ┤
//   other    ├──────────── works ─────────┤ post
//
// A row: sleeps, or waits for a condition or semaphore with a time limit that passed, from one line, at least three
// of a kind; between two of them next to nothing is computed, and nothing is done that lets others go but locks
// taken and given back. The thread holds no lock meanwhile, but that of its condition.
//  - A row of waits with a limit that one like them ends, which got what it waited for, is the first part of that
//    wait: that needs no guess, nor three of them.
//  - Else what ended it was, the first of these that happened during its last wait, or while the poller then waited for a
//    CPU or for the lock under which it looks: that another thread came to
//    join the poller, where it ends then; that another unlocked a lock under which the poller looks, or that goes
//    with its condition, where that did not happen during more than a quarter of the waits before; that
//    another ended. If none did, the row is left as it is.
//
// What the calls between the waits computed, and their samples, count for what the thread does next; the calls
// are gone.
#pragma once

#include <cstdint>

#include "recording/merged_run.h"

namespace longpole::recording {

struct Polls {
  // What ended them was guessed.
  std::uint64_t waits = 0;
  std::uint64_t rows = 0;
  // Waits that were left as they are, of rows that take at least a tenth of the run.
  std::uint64_t unexplained_waits = 0;
};

// After find_wakers().
[[nodiscard]] Polls follow_polls(MergedRun& run);

}  // namespace longpole::recording
