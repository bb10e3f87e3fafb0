// Opens whatever a user names: .lptrace, .prog and .rec alike, told apart by content (the magic
// number) and then by ending. The core never touches a file; this folder does it for everyone.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "trace/recording.h"

namespace longpole::storage {

[[nodiscard]] Expected<Recording> load_recording(const std::filesystem::path& path);

// Writes a recording file so that nobody ever sees half of it: a temporary file beside it, then
// rename.
[[nodiscard]] Expected<void> save_recording(const Recording& recording,
                                            const std::filesystem::path& path);

// The same for any bytes.
[[nodiscard]] Expected<void> write_file_whole(std::string_view bytes,
                                              const std::filesystem::path& path);

}  // namespace longpole::storage
