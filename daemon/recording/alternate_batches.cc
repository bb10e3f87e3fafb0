#include "recording/alternate_batches.h"

#include <algorithm>

#include "recording/system.h"

namespace longpole::recording {

OnOneCpu::OnOneCpu(std::uint32_t cpu) : before_(usable_cpus()) {
  run_on({cpu});
}

OnOneCpu::~OnOneCpu() {
  run_on(before_);
}

std::optional<LeastTimes> least_times(
    PerfRings& events, const Batches& batches,
    const std::function<std::optional<std::int64_t>()>& time_of_batch) {
  std::optional<std::int64_t> without;
  std::optional<std::int64_t> with;
  const std::int64_t end = monotonic_ns() + batches.longest_ns;
  for (int batch = 0; batch < 2 * batches.of_each && monotonic_ns() < end; ++batch) {
    const bool recorded = batch % 2 == 1;
    events.record_at_once(recorded);
    const std::optional<std::int64_t> time = time_of_batch();
    events.record_at_once(false);
    if (!time)
      return std::nullopt;
    std::optional<std::int64_t>& least = recorded ? with : without;
    least = std::min(least.value_or(*time), *time);
  }
  if (!without || !with)
    return std::nullopt;
  return LeastTimes{*without, std::max(*with, *without)};
}

}  // namespace longpole::recording
