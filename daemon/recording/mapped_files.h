// Which files the program has mapped where, as /proc/PID/maps says (proc(5)), kept in the run directory.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "recording/system.h"

namespace longpole::recording {

class MappedFiles {
 public:
  explicit MappedFiles(const std::filesystem::path& run_directory);

  // Appends to the maps file those lines of /proc/PID/maps that name a file, or the kernel's own code, and that no
  // call before had: however long the program runs and whatever else it maps, the file grows with what it loads.
  void add(std::string_view maps);

 private:
  Descriptor file_;
  std::set<std::string, std::less<>> written_;
};

}  // namespace longpole::recording
