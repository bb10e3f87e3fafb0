// Runs a program under the recorder and waits for its recording, with Ctrl-C ending the program,
// not us: what was recorded is kept.
#pragma once

#include <filesystem>

#include "recording/session.h"
#include "trace/recording.h"

namespace longpole::cli {

// That the recording can be kept in this file of option -o, as far as that can be told: better before the program
// has run than after.
[[nodiscard]] Expected<void> check_output(const std::filesystem::path& path);

// `observer.finished` is ours. Its other callbacks are called on this thread, while it waits.
// Errors: those of Session, and that it ended without a result.
[[nodiscard]] Expected<Recording> run_recorded(const recording::Options& options,
                                               recording::Output output,
                                               recording::Observer observer);

}  // namespace longpole::cli
