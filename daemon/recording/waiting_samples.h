// Which samples of a run fell in loops that wait (waiting_loop.h). The code is read from the files that were mapped.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "recording/merged_run.h"
#include "symbols/symbols.h"

namespace longpole::recording {

struct WaitingSamples {
  double share = 0;  // of all samples
  // Of the call paths that end in such a loop: index into MergedRun::paths.
  std::uint32_t most_sampled = 0;
};

// None: fewer than three samples, or a hundredth of all. Those in libc do not count: what it waits for is recorded. None on
// other processors than x86-64, whose code is not known.
[[nodiscard]] std::optional<WaitingSamples> waiting_samples(
    const MergedRun& run, const std::vector<symbols::Mapping>& mappings);

}  // namespace longpole::recording
