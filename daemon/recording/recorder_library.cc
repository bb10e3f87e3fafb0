#include "recording/recorder_library.h"

#include <fmt/format.h>

namespace longpole::recording {
namespace {
namespace fs = std::filesystem;
}  // namespace

Expected<fs::path> find_recorder(const fs::path& asked_for) {
  std::error_code error;
  if (!asked_for.empty()) {
    if (!fs::is_regular_file(asked_for, error))
      return bad_input("cannot record", fmt::format("there is no {}", asked_for.string()),
                       "name the recorder's library");
    return fs::absolute(asked_for, error);
  }
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (error)
    return failure("cannot find the recorder", error.message(), "is /proc mounted?");
  const fs::path here = executable.parent_path();
  std::string tried;
  for (const fs::path& directory :
       {here / "../lib", here / "../lib/longpole", here / "../" LONGPOLE_LIBRARY_DIRECTORY, here}) {
    const fs::path candidate = (directory / recorder_file_name).lexically_normal();
    if (fs::is_regular_file(candidate, error))
      return candidate;
    tried += (tried.empty() ? "" : ", ") + candidate.string();
  }
  return failure("cannot find the recorder", fmt::format("none of these is there: {}", tried),
                 "install Longpole again");
}

}  // namespace longpole::recording
