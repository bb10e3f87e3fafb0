// Where a recorded call stands in the source.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/recording.h"

namespace longpole {

struct CallPlace {
  FileId file;
  std::uint32_t line = 0;
};

// The innermost place of the call's path that is in the user's own code, else the innermost that is known; none where no
// place is.
[[nodiscard]] std::optional<CallPlace> call_place(const Recording& recording, StackId site);

}  // namespace longpole
