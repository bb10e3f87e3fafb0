// The last step: addresses become functions and lines, objects and threads get names, stretches of
// computing get profiles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recording/merged_run.h"
#include "symbols/symbols.h"
#include "trace/recording.h"

namespace longpole::recording {

// Mappings in the order in which they were made; `program` is the file that was run.
//
// Threads are called "main" and by their start function and an ordinal, "worker.2". Where that
// function is not the user's own (libstdc++ starts every std::thread through one of its own), the
// outermost of the user's functions in the thread's samples takes its place, else in its calls.
// Objects are called by their symbol, else by the line that made or first used them.
[[nodiscard]] Recording symbolize(MergedRun run, const std::vector<symbols::Mapping>& mappings,
                                  const std::string& program);

// The mappings of files in snapshots of /proc/PID/maps, in order, each once. Lines that are none are
// passed over.
[[nodiscard]] std::vector<symbols::Mapping> read_maps(std::string_view snapshots);

}  // namespace longpole::recording
