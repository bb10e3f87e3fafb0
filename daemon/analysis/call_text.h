// What a recorded call is called in tables and pictures.
#pragma once

#include <string>

#include "trace/recording.h"

namespace longpole::analysis {

// Its word and what it is about, as in a program file: "post S", "join worker", "yield".
[[nodiscard]] std::string call_text(const Recording& recording, const Event& event);

}  // namespace longpole::analysis
