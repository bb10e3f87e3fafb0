// The calls of a thread that the row of a timeline (timeline.h) shows: one by one where a cell has few,
// counted by kind where it has many.
//
// A cell's calls are those of the parts that end in it, and these are neighbours.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/execution.h"
#include "analysis/timeline.h"
#include "analysis/timeline_view.h"

namespace longpole::analysis {

// Adds them to the row, in order of time. `cells`: for each cell, and for the end of the view, the first
// part that ends there or later.
void find_calls(const Execution& execution, std::uint32_t thread, const TimelineView& view,
                const std::vector<PartIndex>& cells, TimelineRow& row);

// How many there are in the view. A call at the end of the run is in the view that ends there.
[[nodiscard]] std::uint64_t count_calls(const Execution& execution, std::uint32_t thread,
                                        const TimelineView& view);

}  // namespace longpole::analysis
