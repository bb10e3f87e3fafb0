// What a request wants to see of a timeline: marshalling.h for what concerns them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/timeline_find.h"
#include "analysis/timeline_item.h"
#include "longpole/v1/simulation.pb.h"
#include "longpole/v1/timeline.pb.h"
#include "service/open_recording.h"
#include "trace/error.h"

namespace longpole::service {

// The timeline of the simulation that is asked for; it is simulated where it is not known yet.
[[nodiscard]] Expected<OpenRecording::Drawn> read_timeline(const OpenRecording& opened,
                                                           const v1::Simulation& simulation);

[[nodiscard]] Expected<analysis::TimelineView> read_view(const v1::TimelineView& view,
                                                         const analysis::Timeline& timeline);

// The threads to draw; `left`: those that are left out.
struct RowChoice {
  std::vector<std::uint32_t> threads;
  std::uint64_t left = 0;
};
[[nodiscard]] Expected<RowChoice> read_rows(const v1::GetTimelineRequest& request,
                                            const analysis::Timeline& timeline,
                                            const analysis::TimelineView& view);

// What summaries tell: what the colour needs.
[[nodiscard]] analysis::SummaryContent read_content(v1::TimelineColour colour);

// The CPUs to draw, beside so many threads.
[[nodiscard]] Expected<std::vector<std::uint32_t>> read_cpu_rows(
    const v1::GetTimelineRequest& request, const analysis::Timeline& timeline,
    const analysis::TimelineView& view, std::size_t threads);

// Finds what is asked for, and the step from there.
[[nodiscard]] Expected<analysis::TimelineItem> read_item(const v1::GetTimelineItemRequest& request,
                                                         const analysis::Execution& execution);
[[nodiscard]] Expected<analysis::Sought> read_sought(const v1::FindInTimelineRequest& request,
                                                     const OpenRecording& opened);
}  // namespace longpole::service
