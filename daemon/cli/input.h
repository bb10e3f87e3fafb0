// What the commands that look at a recording have in common: reading it, and what is said of it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analysis/study.h"
#include "trace/recording.h"

namespace longpole::cli {

// Reads the file and simulates its ideal execution, with a progress line.
[[nodiscard]] Expected<std::shared_ptr<const analysis::Study>> open_study(const std::string& path);

// The program's name: of the command that was recorded, else of the file.
[[nodiscard]] std::string program_name(const Recording& recording, const std::string& path);

// "run.lptrace deadlocks: at 7 ms all threads wait: P1 for mutex M (since 5 ms), …".
[[nodiscard]] Error deadlock_error(const Recording& recording, const simulation::Deadlock& deadlock,
                                   const std::string& path);

// A line a notice of the recording: "note: …".
[[nodiscard]] std::string notices_text(const Recording& recording);

}  // namespace longpole::cli
