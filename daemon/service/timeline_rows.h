// The rows of a timeline as messages.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/timeline.h"
#include "longpole/v1/timeline.pb.h"
#include "service/open_recording.h"

namespace longpole::service {

// A row for each of the threads, in that order, with the tables of what they name; on all CPUs.
void write_rows(const OpenRecording& opened, const analysis::Timeline& timeline,
                const analysis::TimelineView& view, const std::vector<std::uint32_t>& threads,
                const analysis::SummaryContent& content, v1::GetTimelineResponse& message);

}  // namespace longpole::service
