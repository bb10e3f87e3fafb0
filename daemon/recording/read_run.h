// From the files of a run directory to a Recording.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "recording/children.h"
#include "recording/run_files.h"
#include "trace/recording.h"

namespace longpole::recording {

struct RunDescription {
  std::filesystem::path run_directory;
  std::filesystem::path program;     // the file that was run
  std::vector<std::string> command;  // as the user gave it
  std::string directory;             // where it was run
  bool follow = false;  // processes that it starts or becomes have recordings of their own
  std::vector<std::string> unfollowed;  // Family::unfollowed
};

// What went wrong before the program could start comes back as the launcher's error. Calls
// `symbolizing` when the merge is done. Takes seconds for millions of events; safe on any thread.
[[nodiscard]] Expected<Recording> read_run(const RunDescription& run,
                                           const std::function<void()>& symbolizing);

// Likewise of another process of that run. Its end may not have been seen: a notice says so then.
[[nodiscard]] Expected<Recording> read_child(const RunDescription& run, const ChildProcess& child);

}  // namespace longpole::recording
