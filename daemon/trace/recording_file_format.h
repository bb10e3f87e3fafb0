// The choices that writing and reading a recording file leave open, for tests and fuzz targets that
// must get past compression and checksums. Everyone else uses recording_file.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/limits.h"
#include "trace/recording.h"

namespace longpole {

enum class Compression : std::uint8_t { none = 0, zstd = 1 };
enum class Checksums : bool { ignored, verified };

[[nodiscard]] std::vector<std::uint8_t> encode_recording_with(const Recording& recording,
                                                              Compression compression);

[[nodiscard]] Expected<Recording> decode_recording_with(std::span<const std::uint8_t> bytes,
                                                        const std::string& name,
                                                        Checksums checksums, const Limits& limits);

}  // namespace longpole
