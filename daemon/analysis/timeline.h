// Timeline: what so many pixels can show of an interval of an execution (thesis, Paper I section 3.3:
// the parallelism graph and the execution flow graph).
//
// The picture never hides what is there: a pixel in which a whole stretch of a thread lies is told by
// the shares of what the thread did in it, and a share is 0 only where there is nothing.
//
// A row costs as many steps as it has pixels, or stretches where those are fewer, not as many as there are
// stretches in the interval. Immutable after construction; safe for any number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "analysis/concurrency_classes.h"
#include "analysis/cpu_turns.h"
#include "analysis/execution.h"
#include "analysis/parallelism.h"
#include "analysis/timeline_view.h"

namespace longpole::analysis {

// A pixel in which a whole span lies.
struct PixelSummary {
  std::uint32_t pixel = 0;
  // Together whole_pixel, or less where the thread was not there for all of it.
  std::array<std::uint8_t, span_state_count> shares{};
  float weight = 0;  // mean over what is computed
  // Of a long stretch that runs in it, and of a long wait; none: nothing does, or it is not known.
  ProfileId run;
  SubjectKey wait = 0;
};

struct TimelineCall {
  PartIndex part = no_part;
  std::uint32_t event = 0;
  Nanoseconds time{};
};
// Of a cell that has more calls than are shown one by one.
struct CallCount {
  std::uint32_t cell = 0;
  EventKind kind = EventKind::run;
  std::uint32_t count = 0;
};
inline constexpr std::uint32_t cell_pixels = 8;
inline constexpr std::uint32_t most_calls_of_a_cell = 4;

struct TimelineRow {
  std::vector<Span> spans;  // those that reach out of a pixel, or are one
  std::vector<PixelSummary> summaries;
  std::vector<TimelineCall> calls;
  std::vector<CallCount> counts;
};

struct ParallelismPixel {
  ActiveThreads least;
  ActiveThreads most;
  double mean_running = 0;
  double mean_runnable = 0;
};

struct TimelineLevel {
  std::uint32_t running = 0;
  std::uint32_t runnable = 0;
  Nanoseconds time{};
};
struct TimelineLevels {
  std::vector<TimelineLevel> levels;  // those that occur, in order
  std::array<Nanoseconds, concurrency_class_count> classes{};
};

// A thread of which much is summarised: its critical time in the view is right to seven digits.
struct TimelineThread {
  bool started = false;
  Nanoseconds start{};
  Nanoseconds end{};
  bool active = false;     // runs, wants to, or makes a call in the interval
  double critical_ns = 0;  // of the whole run
  double critical_in_view_ns = 0;
  SpanTimes times{};        // of the interval
  std::uint64_t calls = 0;  // of the interval
};

// What summaries tell beside their shares: PixelSummary. Each costs, and a picture that is coloured by one
// needs no other.
struct SummaryContent {
  bool weight = false;
  bool run = false;
  bool wait = false;
};

class Timeline {
 public:
  explicit Timeline(std::shared_ptr<const Execution> execution);

  [[nodiscard]] const Execution& execution() const { return *execution_; }

  [[nodiscard]] TimelineRow row(std::uint32_t thread, const TimelineView& view,
                                const SummaryContent& content) const;
  [[nodiscard]] TimelineThread thread(std::uint32_t thread, const TimelineView& view) const;
  [[nodiscard]] bool is_active(std::uint32_t thread, const TimelineView& view) const;
  // One a pixel.
  [[nodiscard]] std::vector<ParallelismPixel> parallelism(const TimelineView& view) const;
  [[nodiscard]] TimelineLevels levels(const TimelineView& view) const;
  [[nodiscard]] std::vector<PathPiece> path(const TimelineView& view) const;
  // For rows by CPU. Found at the first call, which takes longest.
  [[nodiscard]] const CpuTurns& cpu_turns() const;

  // Memory beside the recording and its schedule, and cpu_turns().
  [[nodiscard]] std::size_t bytes() const;

 private:
  void find_critical();
  void find_parallelism();

  struct TurnsOnDemand {
    std::once_flag once;
    std::optional<CpuTurns> turns;
  };

  std::shared_ptr<const Execution> execution_;
  ParallelismIndex parallelism_;
  std::vector<double> critical_;  // by thread
  std::unique_ptr<TurnsOnDemand> cpu_turns_ = std::make_unique<TurnsOnDemand>();
};

}  // namespace longpole::analysis
