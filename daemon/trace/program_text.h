// Program files (.prog): a multithreaded program written by hand. DESIGN section 4 has the grammar.
#pragma once

#include <string>
#include <string_view>

#include "trace/recording.h"

namespace longpole {

// Reads a program. Errors name line and column ("line 3, column 7: …"). `name` is used in messages.
// Conditions' `other` counts are unknown_count: nobody has run the program yet.
[[nodiscard]] Expected<Recording> read_program(std::string_view text, const std::string& name);

}  // namespace longpole
