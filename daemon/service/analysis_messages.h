// What-ifs and rankings ↔ protobuf messages: marshalling.h for what concerns the analyses.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/what_if.h"
#include "longpole/v1/analyses.pb.h"
#include "service/open_recording.h"
#include "trace/error.h"

namespace longpole::service {

void write_objects(const analysis::ObjectTable& table, std::size_t rows,
                   const OpenRecording& opened, v1::GetObjectsResponse& message);
void write_threads(const analysis::ThreadTable& table, std::size_t rows, const Recording& recording,
                   v1::GetThreadsResponse& message);

// 1 to max_lead_cpus.
[[nodiscard]] Expected<std::uint32_t> read_lead_cpus(std::uint32_t cpus);
void write_leads(const std::vector<analysis::Lead>& leads, const Recording& recording,
                 v1::GetLeadsResponse& message);
// `table` has headrooms.
void write_headroom(const analysis::Table<analysis::FunctionRow>& table, const Recording& recording,
                    v1::Headroom& message);

// Changes with the parts of a curve still at nothing.
struct ChangeRequest {
  analysis::Changes changes;
  std::vector<std::size_t> on_curve;  // of changes.speeds
};
[[nodiscard]] Expected<ChangeRequest> read_changes(const v1::WhatIfRequest& request,
                                                   const Recording& recording);
// Each point of the curve, or the one point, on all CPU counts.
[[nodiscard]] Expected<void> answer_what_if(const analysis::Study& study, ChangeRequest request,
                                            const std::vector<std::uint32_t>& cpus,
                                            analysis::Scheduler scheduler,
                                            v1::WhatIfResponse& message);

}  // namespace longpole::service
