// Timelines ↔ protobuf messages: marshalling.h for what concerns the timeline.
#pragma once

#include <string>
#include <vector>

#include "analysis/timeline_find.h"
#include "analysis/timeline_item.h"
#include "longpole/v1/timeline.pb.h"
#include "service/open_recording.h"
#include "service/timeline_requests.h"

namespace longpole::service {

// Answers the bytes of the GetTimelineResponse, in pieces.
[[nodiscard]] std::vector<std::string> write_timeline(const OpenRecording& opened,
                                                      const OpenRecording::Drawn& drawn,
                                                      const analysis::TimelineView& view,
                                                      const RowChoice& rows,
                                                      const std::vector<std::uint32_t>& cpus,
                                                      const v1::GetTimelineRequest& request);

// With the calls of the thread that follow, as many as are asked for.
void write_item(const OpenRecording& opened, const analysis::Timeline& timeline,
                const analysis::TimelineItem& item, const v1::GetTimelineItemRequest& request,
                v1::GetTimelineItemResponse& message);

void write_found(const analysis::Execution& execution, const analysis::Sought& sought,
                 const analysis::TimelineView& view, v1::FindInTimelineResponse& message);

}  // namespace longpole::service
