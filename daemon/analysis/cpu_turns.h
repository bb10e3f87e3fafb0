// CpuTurns: who had which CPU when, and what so many pixels can show of it: the rows by CPU that stand
// in a timeline (timeline.h) in place of those by thread.
//
//   CPU 0   ├─ A ─┤├──── B ────┤    ├─ A ─┤      a turn: a thread has the CPU, without a pause
//   CPU 1      ├───── C ─────┤├ A ┤              A moved, twice
//
// As in rows by thread, a pixel in which a whole turn lies is told by its sums, and every turn that
// reaches into any other pixel is there as it is. A row costs a few steps for each turn of the interval
// and no more memory than it has pixels.
//
// Immutable after construction; safe for any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/execution.h"
#include "analysis/timeline_view.h"

namespace longpole::analysis {

struct CpuTurn {
  Nanoseconds start{};
  Nanoseconds end{};
  std::uint32_t thread = 0;
  bool moved = false;  // the thread's turn before was on another CPU
};

// A pixel in which a whole turn lies.
struct CpuPixel {
  std::uint32_t pixel = 0;
  std::uint8_t busy = 0;      // in parts of whole_pixel: 0 and all of it only where that is exact
  std::uint32_t thread = 0;   // that had the longest turn in it
  std::uint32_t threads = 0;  // that had the CPU
  std::uint32_t moves = 0;    // turns that begin in it, of threads that come from another CPU
};

struct CpuRow {
  std::vector<CpuTurn> turns;
  std::vector<CpuPixel> pixels;
  // Of the interval.
  Nanoseconds busy{};
  std::uint32_t threads = 0;
  std::uint64_t begun = 0;  // turns that begin in it
  std::uint64_t moves = 0;  // of these, of threads that come from another CPU
};

class CpuTurns {
 public:
  // Of a machine; where threads share CPUs or have one each, none has turns.
  explicit CpuTurns(const Execution& execution);

  [[nodiscard]] CpuRow row(std::uint32_t cpu, const TimelineView& view) const;

  [[nodiscard]] std::size_t bytes() const { return turns_.capacity() * sizeof(Turn); }

 private:
  // One that is too long for its field is continued by the next, without a gap.
  struct Turn {
    std::int64_t start = 0;
    std::uint32_t length = 0;
    std::uint32_t thread : 31 = 0;
    std::uint32_t moved : 1 = 0;

    [[nodiscard]] std::int64_t end() const { return start + length; }
    [[nodiscard]] bool continues(const Turn& before) const {
      return thread == before.thread && start == before.end();
    }
  };
  static_assert(sizeof(Turn) == 16);

  class RowBuilder;

  std::vector<Turn> turns_;         // of each CPU together, in order of time
  std::vector<std::size_t> begin_;  // by CPU, and the end
  std::size_t threads_ = 0;
};

}  // namespace longpole::analysis
