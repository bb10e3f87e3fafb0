#include "recording/mapped_files.h"

#include <fcntl.h>

#include <algorithm>

#include "recording/run_files.h"

namespace longpole::recording {

MappedFiles::MappedFiles(const std::filesystem::path& run_directory)
    : file_(::open((run_directory / maps_file).c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC,
                   0600)) {}

void MappedFiles::add(std::string_view maps) {
  std::string lines;
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, std::min(maps.find('\n'), maps.size() - 1) + 1);
    maps.remove_prefix(line.size());
    const bool names_file =
        line.find('/') != std::string_view::npos || line.find("[vdso]") != std::string_view::npos;
    if (names_file && !written_.contains(line)) {
      written_.emplace(line);
      lines += line;
    }
  }
  static_cast<void>(write_all(file_.get(), lines.data(), lines.size()));
}

}  // namespace longpole::recording
