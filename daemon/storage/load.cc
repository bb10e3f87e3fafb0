#include "storage/load.h"

#include <fmt/format.h>

#include "trace/program_text.h"

namespace longpole::storage {

Expected<Recording> load_recording(const std::filesystem::path& path) {
  const std::string name = path.string();
  const auto content = read_file_whole(path);
  if (!content)
    return tl::unexpected(content.error());
  if (content->empty())
    return bad_input(fmt::format("cannot read {}", name), "it is empty");
  if (path.extension() == ".prog")
    return read_program(*content, name);
  return bad_input(fmt::format("cannot read {}", name), "its ending is not .prog",
                   "name a program file");
}

}  // namespace longpole::storage
