// The rows of a timeline as messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/timeline.h"
#include "longpole/v1/timeline.pb.h"
#include "service/open_recording.h"

namespace longpole::service {

// A row for each of the threads, in that order, with the tables of what they name in `message`; on all
// CPUs. They are the most of an answer, by far: each is a GetTimelineResponse of one row, as it is sent.
// Behind the bytes of `message`, they go on with it.
[[nodiscard]] std::vector<std::string> write_rows(const OpenRecording& opened,
                                                  const analysis::Timeline& timeline,
                                                  const analysis::TimelineView& view,
                                                  const std::vector<std::uint32_t>& threads,
                                                  const analysis::SummaryContent& content,
                                                  v1::GetTimelineResponse& message);

}  // namespace longpole::service
