// The other processes of a run that is followed: each has a run directory of its own below the first one's, in
// the order in which they began (longpole/raw_record.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "longpole/raw_record.h"

namespace longpole::recording {

struct ChildProcess {
  std::filesystem::path run_directory;
  longpole_control control{};
  std::filesystem::path program;     // the file that it ran
  std::string directory;             // where it began
  std::vector<std::string> command;  // its arguments, the name of the program first
};

struct Family {
  std::vector<ChildProcess> children;
  // Each program that was started and did not record, with the reason as far as it can be told.
  std::vector<std::string> unfollowed;
};

// What is damaged, or was killed before it had begun, is left out.
[[nodiscard]] Family find_family(const std::filesystem::path& run_directory);

// Processes that outlive the first one stop recording when they next need room, and none begins to: nobody
// will read it.
void end_recordings_of_children(const std::filesystem::path& run_directory);

}  // namespace longpole::recording
