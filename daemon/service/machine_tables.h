// Lines and functions on whatever computer a request names: as in marshalling.h, of one table per CPU
// count, in the order asked for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/study.h"
#include "longpole/v1/lines.pb.h"
#include "service/open_recording.h"
#include "trace/error.h"

namespace longpole::service {

// `cpus` and `of`, the threads, are those of the request, read. All but the usual computer is simulated
// for each count; the timeline of it is then at hand.
[[nodiscard]] Expected<std::vector<analysis::Table<analysis::LineRow>>> lines_on(
    const OpenRecording& opened, const v1::GetLinesRequest& request,
    std::span<const std::uint32_t> cpus, const analysis::SumsByCpus& of);
[[nodiscard]] Expected<std::vector<analysis::Table<analysis::FunctionRow>>> functions_on(
    const OpenRecording& opened, const v1::GetFunctionsRequest& request,
    std::span<const std::uint32_t> cpus, const analysis::SumsByCpus& of);

}  // namespace longpole::service
