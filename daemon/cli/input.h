// What the commands that look at a recording have in common: reading it, and what is said of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/study.h"
#include "cli/json_document.h"
#include "trace/recording.h"

namespace longpole::cli {

// Reads the file; what its conditions do when run on one CPU is known (simulation/simulate.h).
[[nodiscard]] Expected<Recording> open_recording(const std::string& path);

// Reads the file and simulates its ideal execution, with a progress line.
[[nodiscard]] Expected<std::shared_ptr<const analysis::Study>> open_study(const std::string& path);

// The program's name: of the command that was recorded, else of the file.
[[nodiscard]] std::string program_name(const Recording& recording, const std::string& path);

// {"at_ns", "threads": names, "waits": what each waits for, since when, and where}.
[[nodiscard]] Json deadlock_json(const Recording& recording, const simulation::Deadlock& deadlock);

// "it deadlocks at 7 ms: P1 waits for mutex M at queue.c:31 since 5 ms, …".
[[nodiscard]] std::string deadlock_text(const Recording& recording,
                                        const simulation::Deadlock& deadlock);
// The same, as what became of a command.
[[nodiscard]] Error deadlock_error(const Recording& recording, const simulation::Deadlock& deadlock,
                                   const std::string& path);

// A line a notice of the recording: "note: …".
[[nodiscard]] std::string notices_text(const Recording& recording);

// What its notices say, and what speaks against a prediction from it besides: few samples, dear recording.
[[nodiscard]] std::vector<std::string> notes_of(const Recording& recording);
// A line each: "note: …".
[[nodiscard]] std::string notes_text(const std::vector<std::string>& notes);
[[nodiscard]] inline std::string notes_text(const Recording& recording) {
  return notes_text(notes_of(recording));
}

}  // namespace longpole::cli
