// ParallelismIndex: how many threads run, and how many could run and have no CPU, at each moment of a
// run, in a few bytes a change, with sums over blocks of changes.
//
// Written in order of time by add(), then immutable; safe for any number of threads. Two can be written at
// a time, of two parts of the run, and joined.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/types.h"

namespace longpole::analysis {

struct ActiveThreads {
  std::uint32_t running = 0;
  std::uint32_t runnable = 0;
  friend auto operator<=>(const ActiveThreads&, const ActiveThreads&) = default;
};

// Of some stretch of time.
struct ParallelismSummary {
  ActiveThreads least{0xffffffffU, 0xffffffffU};
  ActiveThreads most;
  double running_ns = 0;  // Σ time · threads
  double runnable_ns = 0;

  void add(ActiveThreads active, std::int64_t time) {
    least.running = std::min(least.running, active.running);
    least.runnable = std::min(least.runnable, active.runnable);
    most.running = std::max(most.running, active.running);
    most.runnable = std::max(most.runnable, active.runnable);
    running_ns += static_cast<double>(active.running) * static_cast<double>(time);
    runnable_ns += static_cast<double>(active.runnable) * static_cast<double>(time);
  }
  void add(const ParallelismSummary& other) {
    least.running = std::min(least.running, other.least.running);
    least.runnable = std::min(least.runnable, other.least.runnable);
    most.running = std::max(most.running, other.most.running);
    most.runnable = std::max(most.runnable, other.most.runnable);
    running_ns += other.running_ns;
    runnable_ns += other.runnable_ns;
  }
};

class ParallelismIndex {
 public:
  // From `time` on; the first is where the run or its part begins, later ones rise. What changes nothing is
  // passed over.
  void add(std::int64_t time, ActiveThreads active);
  // Goes on as that one does, which has been added to, first at a later time than all in this one.
  void append(const ParallelismIndex& behind);
  // Behind the last, of the whole run.
  void end(std::int64_t time);

  // For each of the stretches between neighbouring edges, in order. Behind the end nobody runs.
  [[nodiscard]] std::vector<ParallelismSummary> between(
      const std::vector<std::int64_t>& edges) const;

  // Time at each level between `from` and `to` ≤ the end, in order of running plus runnable, then of
  // running. Linear in a small part of the run.
  [[nodiscard]] std::vector<std::pair<ActiveThreads, std::int64_t>> levels(std::int64_t from,
                                                                           std::int64_t to) const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  static constexpr std::uint32_t block_steps = 128;
  static constexpr std::size_t most_checkpoints = 1024;
  struct Block {
    std::int64_t start = 0;
    std::uint64_t tokens = 0;
    ActiveThreads active;  // from its start on
    ParallelismSummary sum;
  };
  using Histogram = std::vector<std::pair<ActiveThreads, std::int64_t>>;  // in order of levels

  // A step in the tokens: from `time` on.
  class Reader;
  void step(std::int64_t time, ActiveThreads active);
  void find_checkpoints();
  [[nodiscard]] std::size_t block_at(std::int64_t time) const;
  [[nodiscard]] Histogram until(std::int64_t time) const;

  std::vector<Block> blocks_;
  std::vector<std::uint8_t> tokens_;
  std::vector<std::pair<std::size_t, Histogram>> checkpoints_;  // of all before that block
  std::int64_t last_ = 0;
  std::int64_t end_ = 0;
  ActiveThreads active_;
  std::uint32_t in_block_ = 0;
};

}  // namespace longpole::analysis
