// Runs a program under the recorder and waits for its recording. Signals that would end us are for the program, and what
// was recorded is kept: SIGTERM, SIGHUP and SIGQUIT (Ctrl-\) end it. SIGINT (Ctrl-C) is its own business where it has
// the terminal, and else ends it, too. Those that are ignored, as by nohup, stay so.
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
