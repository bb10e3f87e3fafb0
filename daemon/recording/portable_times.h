// The portable source: what a thread's own records say about its CPU time, its sleeps and where it
// was.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "recording/clock.h"
#include "recording/raw_chunks.h"
#include "recording/stolen_time.h"
#include "recording/thread_events.h"

namespace longpole::recording {

// Call paths, numbered in the order in which they are first seen.
class PathTable {
 public:
  explicit PathTable(std::vector<std::vector<std::uint64_t>> paths = {});
  [[nodiscard]] std::uint32_t add(const std::vector<std::uint64_t>& addresses);
  [[nodiscard]] const std::vector<std::uint64_t>& at(std::uint32_t path) const {
    return paths_[path];
  }
  [[nodiscard]] std::vector<std::vector<std::uint64_t>> take() { return std::move(paths_); }

 private:
  std::vector<std::vector<std::uint64_t>> paths_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> ids_;
};

// Between two readings of its clock a thread ran where its records stand close to each other and where
// it was sampled, not while it waited in a recorded call, and what it used besides is spread evenly
// over the other stretches. Before the first reading it is taken to have run without a break. `cpu_before_ns`:
// what its clock showed when the recording began. `gaps`
// are candidates only: find_portable_gaps() has the last word.
[[nodiscard]] ThreadTimes portable_times(const RawThread& raw, MergeContext& context,
                                         std::uint32_t sample_hz, PathTable& paths,
                                         std::int64_t cpu_before_ns = 0);

// Sleeps outside recorded calls, and in those that wait for nobody known, of all threads together: where between two
// readings or samples more time passed than the thread had CPU time and waited for a CPU. Where the kernel does not tell
// how long it waited (run_delay), it is taken (`one_cpu`) to have waited while the other threads of the program ran.
// Waiting is known for a tenth of a second at a time and belongs to the times off the CPU there, those outside calls first,
// so only what is longer than a usual time slice counts.
inline constexpr std::int64_t shortest_portable_wait_ns = 5'000'000;
// Nor does what the host of a virtual machine may have taken of the CPU meanwhile (`stolen`).
void find_portable_gaps(std::vector<ThreadTimes>& threads, bool one_cpu, const StolenTime& stolen);

}  // namespace longpole::recording
