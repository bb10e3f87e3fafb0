// Where the recorder's library is.
#pragma once

#include <filesystem>

#include "trace/error.h"

namespace longpole::recording {

inline constexpr const char* recorder_file_name = "liblongpole-recorder.so";

// `asked_for` when it is not empty; else by its place relative to our own executable: in ../lib (a
// build tree), in ../lib/longpole or the multiarch directory's longpole (a package), or beside it
// (the editor's extension).
[[nodiscard]] Expected<std::filesystem::path> find_recorder(const std::filesystem::path& asked_for);

}  // namespace longpole::recording
