// The times that quartz.h is made of: one sweep over the schedule measures every row of the work tree
// and every thread by the number of threads that ran meanwhile; a machine turns that into states and
// into the terms of Equation 1.
//
// On a machine of P CPUs that n running threads share evenly, a moment takes s = max(n/P, 1) times as
// long, and b of the n that do not spin keep b/s CPUs busy. So a moment dt of one thread's computing is
// dt · s/b of normalized time. Where nobody spins that is dt / min(n, P), and follows from the times by
// n; else it is measured beside them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/level_times.h"
#include "analysis/quartz.h"

namespace longpole::analysis {

// What a row, node or entity has, in ns of the ideal execution.
struct SpentTimes {
  struct ByRunning {
    std::vector<double> levels;  // by the number of threads that ran
    TopSums top;                 // of the last level, where it stands for several
  };
  std::array<ByRunning, spent_count> by;
  std::vector<double> terms;  // normalized, by CPUs busy less one; empty: they follow from `by`

  void add(const SpentTimes& other, double factor = 1);
  [[nodiscard]] ByRunning& of(Spent spent) { return by.at(static_cast<std::size_t>(spent)); }
  [[nodiscard]] const ByRunning& of(Spent spent) const {
    return by.at(static_cast<std::size_t>(spent));
  }
};

class QuartzMachine {
 public:
  // `shares`: more running threads than CPUs share them. `exact`: as in level_times.h.
  QuartzMachine(std::uint32_t cpus, bool shares, std::uint32_t most_running, std::uint32_t exact);

  [[nodiscard]] double normalized(const SpentTimes& times) const;
  [[nodiscard]] std::vector<double> terms(const SpentTimes& times) const;
  // How long waiting takes there, off the CPU and spinning.
  [[nodiscard]] double blocked(const SpentTimes& times) const;
  [[nodiscard]] double spinning(const SpentTimes& times) const;
  [[nodiscard]] QuartzTimes all(const SpentTimes& times) const;

  [[nodiscard]] std::uint32_t cpus() const { return cpus_; }
  [[nodiscard]] double stretch(std::size_t running) const;
  [[nodiscard]] std::size_t term_count() const;
  // The last level, and with it the last term, stands for several numbers of threads.
  [[nodiscard]] bool has_top() const { return has_top_; }

 private:
  void add(StateTime& state, std::size_t level, double time, double weighed) const;
  void add_computed(const SpentTimes::ByRunning& computed, StateTime& state,
                    StateTime& ready) const;
  void add_waited(const SpentTimes::ByRunning& waited, StateTime& state) const;
  [[nodiscard]] double waited(const SpentTimes::ByRunning& times) const;
  [[nodiscard]] bool is_top(std::size_t level) const { return has_top_ && level + 1 == width_; }
  [[nodiscard]] double term(const SpentTimes::ByRunning& computed, std::size_t level) const;

  std::uint32_t cpus_;
  bool shares_;
  std::size_t width_;  // of levels
  bool has_top_;
};

class QuartzSweep {
 public:
  // `late`: the segments that start after a wait or with their thread, in order of their starts.
  QuartzSweep(const simulation::Schedule& schedule, const WorkTree& tree,
              const std::vector<simulation::SegmentIndex>& late, std::uint32_t most_running,
              std::uint32_t exact, const QuartzMachine& machine);

  // All that passed, as somebody would have it who waits from the beginning to the end.
  [[nodiscard]] SpentTimes of_all() const;
  [[nodiscard]] SpentTimes of_row(std::uint32_t row) const;
  [[nodiscard]] SpentTimes of_thread(std::size_t thread) const;

 private:
  // Normalized time by CPUs busy, of rows in progress.
  class Terms {
   public:
    Terms(std::size_t rows, std::size_t columns)
        : columns_(columns), clocks_(columns, 0), times_(rows * columns, 0) {}
    void pass(double elapsed, double cpus_busy, std::uint32_t threads);
    void begin(std::size_t row) { add(row, -1); }
    void end(std::size_t row) { add(row, 1); }
    [[nodiscard]] std::vector<double> of(std::size_t row) const;

   private:
    void add(std::size_t row, double factor);

    std::size_t columns_;
    std::vector<double> clocks_;
    std::vector<double> times_;
  };

  void run(const std::vector<simulation::SegmentIndex>& late);
  void pass(std::int64_t time, std::uint32_t running);
  void end_segment(simulation::SegmentIndex s);
  void begin_segment(simulation::SegmentIndex s);
  void begin_after_wait(simulation::SegmentIndex s);
  void begin(std::size_t row, Spent spent);
  void end(std::size_t row, Spent spent);
  [[nodiscard]] std::size_t thread_row(std::size_t thread, Spent spent) const {
    return rows_ + static_cast<std::size_t>(spent) * threads_ + thread;
  }
  void read(std::size_t row, Spent spent, SpentTimes& times) const;

  const simulation::Schedule& schedule_;
  const WorkTree& tree_;
  const QuartzMachine& machine_;
  std::size_t threads_;
  std::size_t rows_;
  LevelTimes times_;            // rows of the tree; then all threads for each way to spend time
  Terms terms_;                 // likewise; of no rows where nobody spins
  std::uint32_t spinning_ = 0;  // threads that do now
};

}  // namespace longpole::analysis
