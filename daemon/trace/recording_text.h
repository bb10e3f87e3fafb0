// Text recordings (.rec): what `dump` prints and `assemble` reads back; DESIGN section 4.
#pragma once

#include <string>
#include <string_view>

#include "trace/recording.h"

namespace longpole {

// read_recording_text(write_recording_text(r)) == r for every valid Recording.
[[nodiscard]] std::string write_recording_text(const Recording& recording);

[[nodiscard]] Expected<Recording> read_recording_text(std::string_view text,
                                                      const std::string& name);

}  // namespace longpole
