// Which thread comes next: a tournament over the times at which the threads' segments end.
//
// The winner has the earliest time, at equal times the smallest thread id. A change of one thread's
// time replays its matches only: log2(threads) comparisons, no allocation.
//
//          ┌── winner ──┐
//       ┌──┴──┐      ┌──┴──┐      players beyond the number of threads never come
//      t0    t1     t2    (t3)
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace longpole::simulation {

class Tournament {
 public:
  // One less than the largest number: replay() adds one to it.
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() - 1;

  explicit Tournament(std::uint32_t threads)
      : leaves_(std::bit_ceil(std::size_t{threads} + 1)), nodes_(2 * leaves_, Player{never, 0}) {
    for (std::size_t i = 0; i < leaves_; ++i)
      nodes_[leaves_ + i].thread = static_cast<std::uint32_t>(i);
    for (std::size_t i = leaves_ - 1; i > 0; --i)
      nodes_[i].thread = nodes_[2 * i].thread;
  }

  [[nodiscard]] std::uint32_t thread() const { return nodes_[1].thread; }
  [[nodiscard]] std::int64_t time() const { return nodes_[1].time; }

  void set(std::uint32_t thread, std::int64_t time) {
    std::size_t at = leaves_ + thread;
    Player winner{time, thread};
    nodes_[at] = winner;
    while (at > 1) {
      const Player& other = nodes_[at ^ 1U];
      // Whoever stands left has the smaller id and wins a tie; `at & 1` says that other does.
      if (other.time < winner.time + static_cast<std::int64_t>(at & 1U))
        winner = other;
      at >>= 1U;
      nodes_[at] = winner;
    }
  }

 private:
  struct Player {
    std::int64_t time;
    std::uint32_t thread;
  };
  std::size_t leaves_;
  std::vector<Player> nodes_;
};

}  // namespace longpole::simulation
