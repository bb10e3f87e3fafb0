// For how long each of many rows was in progress while so many threads ran, by one sweep over time.
//
// A row is in progress several times at once where several threads are at it. For each number of
// threads there is a clock that ticks only while so many run; a row that begins is charged with
// what all these clocks show, taken as negative, and with what they show when it ends. That is
// exact in whole nanoseconds, modulo 2^64 in between.
//
// From `exact` threads on, numbers are taken together, and sums over them kept beside the time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longpole::analysis {

// Of the numbers that are taken together.
struct TopSums {
  double threads = 0;          // Σ time · running
  double normalized = 0;       // Σ time / min(running, cpus)
  double elapsed = 0;          // Σ time · max(running / cpus, 1)
  double threads_elapsed = 0;  // Σ time · running · max(running / cpus, 1)

  void add(const TopSums& other, double factor) {
    threads += factor * other.threads;
    normalized += factor * other.normalized;
    elapsed += factor * other.elapsed;
    threads_elapsed += factor * other.threads_elapsed;
  }
};

class LevelTimes {
 public:
  // `most` is the largest number of threads that run at once.
  LevelTimes(std::size_t rows, std::uint32_t most, std::uint32_t exact, std::uint32_t cpus)
      : exact_(exact),
        width_(std::min(most, exact) + 1),
        cpus_(cpus),
        clocks_(width_, 0),
        times_(rows * width_, 0),
        top_(most >= exact ? rows : 0) {}

  void pass(std::int64_t time, std::uint32_t running) {
    clocks_[std::min(running, exact_)] += static_cast<std::uint64_t>(time);
    if (running < exact_)
      return;
    const auto length = static_cast<double>(time);
    const double stretch = running > cpus_ ? static_cast<double>(running) / cpus_ : 1;
    top_clock_.threads += length * running;
    top_clock_.normalized += length / std::min(running, cpus_);
    top_clock_.elapsed += length * stretch;
    top_clock_.threads_elapsed += length * running * stretch;
  }
  void begin(std::size_t row) {
    std::uint64_t* const times = &times_[row * width_];
    for (std::size_t level = 0; level < width_; ++level)
      times[level] -= clocks_[level];
    if (!top_.empty())
      top_[row].add(top_clock_, -1);
  }
  void end(std::size_t row) {
    std::uint64_t* const times = &times_[row * width_];
    for (std::size_t level = 0; level < width_; ++level)
      times[level] += clocks_[level];
    if (!top_.empty())
      top_[row].add(top_clock_, 1);
  }

  // Numbers of threads from 0; the last stands for itself and, where there is a top, all above.
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] bool has_top() const { return !top_.empty(); }
  [[nodiscard]] std::uint64_t time(std::size_t row, std::size_t level) const {
    return times_[row * width_ + level];
  }
  [[nodiscard]] TopSums top(std::size_t row) const { return has_top() ? top_[row] : TopSums{}; }
  // Of all that has passed.
  [[nodiscard]] std::uint64_t time(std::size_t level) const { return clocks_[level]; }
  [[nodiscard]] TopSums top() const { return top_clock_; }

 private:
  std::uint32_t exact_;
  std::size_t width_;
  std::uint32_t cpus_;
  std::vector<std::uint64_t> clocks_;
  std::vector<std::uint64_t> times_;
  TopSums top_clock_;
  std::vector<TopSums> top_;
};

}  // namespace longpole::analysis
