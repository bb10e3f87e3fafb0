// How well the CPUs are used and what the critical path does meanwhile: the two measures of Intel
// Thread Profiler, and the two crossed (path_classes.h names the article; its Table 1 and Figures 2
// and 3).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/path_classes.h"
#include "analysis/study.h"

namespace longpole::analysis {

// By the number of threads that run or could run, against the CPUs.
enum class ConcurrencyClass : std::uint8_t {
  idle,
  serial,
  undersubscribed,
  parallel,
  oversubscribed
};
inline constexpr std::size_t concurrency_class_count = 5;
[[nodiscard]] ConcurrencyClass concurrency_class(std::uint32_t active, std::uint32_t cpus);

// All times in nanoseconds; by PathClass.
using PathTimes = std::array<double, path_class_count>;

struct ConcurrencyLevel {
  std::uint32_t running = 0;
  std::uint32_t runnable = 0;  // that want a CPU and have none; level of the article: the sum
  double time_ns = 0;
  PathTimes path_ns{};  // the same time, by what the path does
};

// What made threads wait that the path then passed to.
struct ObjectImpact {
  ObjectId object;      // none: for the end of another thread
  StackId waited_at{};  // where most of it was waited for, and let go; none: not recorded
  StackId released_at{};
  std::uint64_t times = 0;
  double impact_ns = 0;
};
struct ThreadImpact {
  ThreadId delays;
  ThreadId delayed;
  std::uint64_t times = 0;
  double impact_ns = 0;
};

struct ConcurrencyReport {
  std::uint32_t cpus = 1;
  double total_ns = 0;
  std::vector<ConcurrencyLevel> levels;  // those that occur, in order
  std::array<PathTimes, concurrency_class_count> crossed{};
  std::vector<ObjectImpact> objects;  // heaviest first, ties by id; without those of no impact
  std::vector<ThreadImpact> threads;

  // Sums over `crossed`.
  [[nodiscard]] std::array<double, concurrency_class_count> classes() const;
  [[nodiscard]] PathTimes critical_path() const;
};

// `schedule` is an ideal execution of `recording`. Under `shared` its time segments take as long as
// they do on `cpus` CPUs, under `ideal` as they stand; the classes are for `cpus` either way.
// Linear time.
[[nodiscard]] ConcurrencyReport classify_concurrency(const Recording& recording,
                                                     const simulation::Schedule& schedule,
                                                     std::uint32_t cpus, Scheduler scheduler);
// Of a run on a machine, as it is there.
[[nodiscard]] ConcurrencyReport classify_concurrency(const Execution& run);

}  // namespace longpole::analysis
