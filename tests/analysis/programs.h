// Programs for the tests: from text, from tests/golden/. Their condition counts are known.
#pragma once

#include <string>

#include "trace/recording.h"

namespace longpole::analysis {

[[nodiscard]] Recording read_text(const std::string& program);
// Of a recording's text form.
[[nodiscard]] Recording read_recording(const std::string& text);
[[nodiscard]] Recording read_golden(const std::string& name);

}  // namespace longpole::analysis
