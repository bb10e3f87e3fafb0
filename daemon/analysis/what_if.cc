#include "analysis/what_if.h"

#include <utility>

namespace longpole::analysis {

WhatIf::WhatIf(Recording recording)
    : recording_(std::move(recording)),
      times_(simulation::simulate_ideal(recording_), recording_.threads.size()) {}

Expected<WhatIf> WhatIf::of(const Recording& recording, const Changes& changes) {
  auto program = changed(recording, changes);
  if (!program)
    return tl::unexpected(program.error());
  return WhatIf(*std::move(program));
}

}  // namespace longpole::analysis
