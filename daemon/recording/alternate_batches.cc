#include "recording/alternate_batches.h"

#include "recording/system.h"

namespace longpole::recording {

OnOneCpu::OnOneCpu(std::uint32_t cpu) : before_(usable_cpus()) {
  run_on({cpu});
}

OnOneCpu::~OnOneCpu() {
  run_on(before_);
}

std::vector<BatchTimes> alternate_batches(const Batches& batches, const Batch& without,
                                          const Batch& with) {
  std::vector<BatchTimes> times;
  const std::int64_t end = monotonic_ns() + batches.longest_ns;
  for (int batch = 0; batch < batches.of_each && monotonic_ns() < end; ++batch) {
    const std::optional<std::int64_t> time = without();
    const std::optional<std::int64_t> recorded = with();
    if (!time || !recorded)
      return {};
    times.push_back({*time, *recorded});
  }
  return times;
}

}  // namespace longpole::recording
