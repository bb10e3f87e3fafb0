#include "storage/load.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>

#include "trace/program_text.h"
#include "trace/recording_file.h"
#include "trace/recording_text.h"

namespace longpole::storage {
namespace {

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// What a file that is none of ours seems to be, for those who took one for the other.
Error unknown_file(const std::string& name, std::string_view content) {
  const std::string what = fmt::format("cannot read {}", name);
  if (content.starts_with("\x7f"
                          "ELF"))
    return {ErrorKind::bad_input, what, "it is a program, not a recording",
            fmt::format("record it first: longpole record -- {}", name)};
  return {ErrorKind::bad_input, what,
          "it is no recording file, and its name ends neither in .prog nor in .rec",
          "record a program with `longpole record`, or rename a text to NAME.prog or NAME.rec"};
}

}  // namespace

Expected<Recording> load_recording(const std::filesystem::path& path) {
  const std::string name = path.string();
  const auto content = read_file_whole(path);
  if (!content)
    return tl::unexpected(content.error());
  if (content->empty())
    return bad_input(fmt::format("cannot read {}", name), "it is empty", "record again");
  if (is_recording_file(as_bytes(*content)) || path.extension() == ".lptrace")
    return decode_recording(as_bytes(*content), name);
  if (path.extension() == ".prog")
    return read_program(*content, name);
  if (path.extension() == ".rec")
    return read_recording_text(*content, name);
  return tl::unexpected(unknown_file(name, *content));
}

Expected<void> save_recording(const Recording& recording, const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = encode_recording(recording);
  return write_file_whole({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace longpole::storage
