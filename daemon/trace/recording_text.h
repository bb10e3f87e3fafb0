// Text recordings (.rec): what `dump` prints and `assemble` reads back. DESIGN section 4 and
// README.md have the grammar.
#pragma once

#include <string>
#include <string_view>

#include "trace/limits.h"
#include "trace/recording.h"

namespace longpole {

// read_recording_text(write_recording_text(r)) == r for every valid Recording. Tables that the
// events by themselves bring up are left out.
[[nodiscard]] std::string write_recording_text(const Recording& recording);

// Errors name line and column. `name` is used in messages.
[[nodiscard]] Expected<Recording> read_recording_text(std::string_view text,
                                                      const std::string& name,
                                                      const Limits& limits = {});

}  // namespace longpole
