// What is done at a barrier between the last arrival and letting the others go: std::barrier's completion function.
//
// No record tells when the last thread arrived, only when it lets the others go. How much it computes in between is the share
// of its samples there, of all meetings at that barrier, that lie in the barrier's code. So
//
//   last    ├──────── compute ────────┤ wakes all           becomes   ├─ compute ─┤barrier├ complete ┤ posts
//   others  ├ compute ┤ barrier ──────┤                               ├ compute ┤ barrier ┤ wait ────┤
//
// and what is to be done alone is done alone on any number of CPUs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "recording/merged_run.h"
#include "recording/object_table.h"

namespace longpole::recording {

// Of barriers that no call makes (futex_edges.h). Before find_wakers(). `is_in_barrier`: whether a path of samples leads
// through a barrier's code.
void split_completions(std::vector<MergedThread>& threads, ObjectTable& objects,
                       const std::function<bool(std::uint32_t path)>& is_in_barrier);

}  // namespace longpole::recording
