// Opens whatever a user names: .lptrace, .prog and .rec alike, told apart by content (the magic
// number) and then by ending. The core never touches a file; this folder does it for everyone.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "trace/recording.h"

namespace longpole::storage {

[[nodiscard]] Expected<Recording> load_recording(const std::filesystem::path& path);

// Writes a recording file so that nobody ever sees half of it: a temporary file beside it, then
// rename. Where it fails, the temporary file is gone and what stood there before still stands.
[[nodiscard]] Expected<void> save_recording(const Recording& recording,
                                            const std::filesystem::path& path);

// The same for any bytes.
[[nodiscard]] Expected<void> write_file_whole(std::string_view bytes,
                                              const std::filesystem::path& path);

// That nothing but a regular file would be replaced there. Writing checks it, too.
[[nodiscard]] Expected<void> check_replaceable(const std::filesystem::path& path);

// The content of a regular file. Refuses everything else, by what it is.
[[nodiscard]] Expected<std::string> read_file_whole(const std::filesystem::path& path);

}  // namespace longpole::storage
