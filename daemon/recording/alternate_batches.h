// What perf events make longer: the least of many batches of the same work with them, beside the least of as many
// without, one after the other, so that what else the machine does meanwhile is in both or in neither.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "recording/perf_rings.h"

namespace longpole::recording {

// Keeps this process, and whom it forks, on one CPU while it lives. Of a process with one thread.
class OnOneCpu {
 public:
  explicit OnOneCpu(std::uint32_t cpu);
  ~OnOneCpu();
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

 private:
  std::vector<std::uint32_t> before_;
};

struct Batches {
  int of_each = 0;              // with events, and as many without
  std::int64_t longest_ns = 0;  // for all of them: others may want this CPU
};

struct LeastTimes {
  std::int64_t without_ns = 0;
  std::int64_t with_ns = 0;  // not less
};

// `time_of_batch` says how long one took; none: it could not be made. None where that was so, or where there was no time for
// a batch of each. The events are off afterwards.
[[nodiscard]] std::optional<LeastTimes> least_times(
    PerfRings& events, const Batches& batches,
    const std::function<std::optional<std::int64_t>()>& time_of_batch);

}  // namespace longpole::recording
