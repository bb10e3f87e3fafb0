// A run in the formats of other tools.
//
//   perfetto     https://ui.perfetto.dev: the trace of Perfetto, a protobuf. Threads as flame charts with their
//                calls, who wakes whom, how many run, what each simulated CPU does, the critical path
//   pprof        https://github.com/google/pprof: a profile by call path and thread, a gzipped protobuf.
//                CPU time, time off the CPU in calls, and of simulated runs critical time
//   speedscope   https://www.speedscope.app: threads as flame charts, JSON
//
// Pure functions of the run: the same bytes for the same run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "export/run.h"
#include "trace/error.h"

namespace longpole::exporting {

enum class Format : std::uint8_t { perfetto, pprof, speedscope };
[[nodiscard]] std::optional<Format> format_named(std::string_view name);
[[nodiscard]] std::vector<std::string_view> format_names();
// Its bytes are no text: nothing for a terminal.
[[nodiscard]] bool is_binary(Format format);

// Errors: a format with a time axis, of a program that nobody has run.
[[nodiscard]] Expected<std::string> write(const Run& run, Format format);

[[nodiscard]] std::string perfetto_trace(const Run& run);
[[nodiscard]] std::string pprof_profile(const Run& run);
[[nodiscard]] std::string speedscope_file(const Run& run);

}  // namespace longpole::exporting
