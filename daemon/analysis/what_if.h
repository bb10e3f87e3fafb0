// What the program would take if it were changed: the changed program (change.h), simulated again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/change.h"
#include "analysis/completion.h"

namespace longpole::analysis {

class WhatIf {
 public:
  // Conditions of `recording` have known counts (Study::recording()). Refuses what changed() does.
  [[nodiscard]] static Expected<WhatIf> of(const Recording& recording, const Changes& changes);

  // The speed-up is that of the changed program against itself on one CPU.
  [[nodiscard]] Prediction predict(std::uint32_t cpus, Scheduler scheduler) const {
    return times_.predict(cpus, scheduler);
  }
  [[nodiscard]] const Recording& recording() const { return recording_; }

 private:
  explicit WhatIf(Recording recording);

  Recording recording_;
  CompletionTimes times_;
};

}  // namespace longpole::analysis
