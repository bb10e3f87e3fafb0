// The recording file, NAME.lptrace: versioned header and tables, then compressed column blocks.
// The layout is described in recording_file.cc.
//
// Reading accepts any bytes: damage is refused with the offset and the reason, limits are explicit
// and named in the error. Writing the same Recording gives the same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/recording.h"

namespace longpole {

inline constexpr std::array<std::uint8_t, 8> recording_magic{0x89, 'L', 'P',  'R',
                                                             'E',  'C', 0x0d, 0x0a};

// Whether the bytes begin with the magic: a recording file, of this format or another, whole or
// damaged.
[[nodiscard]] bool is_recording_file(std::span<const std::uint8_t> bytes);

// `recording` must be valid.
[[nodiscard]] std::vector<std::uint8_t> encode_recording(const Recording& recording);

// `name` is used in messages only.
[[nodiscard]] Expected<Recording> decode_recording(std::span<const std::uint8_t> bytes,
                                                   const std::string& name);

}  // namespace longpole
