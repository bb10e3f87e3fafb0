// What perf events make longer: batches of the same work with them, each behind one without, so that what else the
// machine does meanwhile is in both or in neither.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

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

struct BatchTimes {
  std::int64_t without_ns = 0;
  std::int64_t with_ns = 0;
};

// `without` and `with` make a batch and say how long it took; none: it could not be made. Nothing where that was so, fewer
// than asked for where time was up.
using Batch = std::function<std::optional<std::int64_t>()>;
[[nodiscard]] std::vector<BatchTimes> alternate_batches(const Batches& batches,
                                                        const Batch& without, const Batch& with);

}  // namespace longpole::recording
