// Program files (.prog): a multithreaded program written by hand. DESIGN section 4 and README.md
// have the grammar.
#pragma once

#include <string>
#include <string_view>

#include "trace/limits.h"
#include "trace/recording.h"

namespace longpole {

// Reads a program. Errors name line and column ("line 3, column 7: …"). `name` is used in messages.
//
// Nobody has run the program yet: conditions' `other` counts are unknown_count, no waker is known,
// and times are those of each thread's own clock, from 0, as if it never waited for another.
// Each `run` is an event whose exact profile has the entered functions as its callers; `enter` and
// `leave` are events too. Threads stand in the order of their lines.
[[nodiscard]] Expected<Recording> read_program(std::string_view text, const std::string& name,
                                               const Limits& limits = {});

}  // namespace longpole
