// Which thread comes next: a tournament over the times at which the threads' segments end.
//
// The winner has the earliest time, at equal times the smallest thread id: a player's key is its
// time with the thread id behind it, and the smaller key wins. A change of one thread's time replays
// its matches only: log2(threads) comparisons, without a branch, for who wins cannot be foretold.
//
//          ┌── smaller ──┐
//       ┌──┴──┐       ┌──┴──┐      players beyond the number of threads never come
//      t0    t1      t2    (t3)
//
// Key must be unsigned and hold the latest time shifted by bits(threads): 64 bits do for an hour of
// a thousand threads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longpole::simulation {

template <typename Key>
class Tournament {
 public:
  // How far a time is shifted for that many threads.
  [[nodiscard]] static int bits(std::size_t threads) {
    return std::countr_zero(std::bit_ceil(std::max<std::size_t>(threads, 2)));
  }

  explicit Tournament(std::size_t threads)
      : bits_(bits(threads)), leaves_(std::size_t{1} << bits_), keys_(2 * leaves_, nobody_comes) {}

  [[nodiscard]] bool somebody_comes() const { return keys_[1] != nobody_comes; }
  [[nodiscard]] std::uint32_t thread() const {
    return static_cast<std::uint32_t>(keys_[1] & (leaves_ - 1));
  }
  [[nodiscard]] std::int64_t time() const { return static_cast<std::int64_t>(keys_[1] >> bits_); }

  void set(std::uint32_t thread, std::int64_t time) {
    replay(thread, (static_cast<Key>(time) << bits_) | thread);
  }
  void drop(std::uint32_t thread) { replay(thread, nobody_comes); }

 private:
  static constexpr Key nobody_comes = ~Key{0};

  void replay(std::uint32_t thread, Key key) {
    Key* const keys = keys_.data();
    std::size_t at = leaves_ + thread;
    keys[at] = key;
    while (at > 1) {
      key = std::min(key, keys[at ^ 1U]);
      at >>= 1U;
      keys[at] = key;
    }
  }

  int bits_;
  std::size_t leaves_;
  std::vector<Key> keys_;  // the root at 1, the children of i at 2i and 2i + 1
};

}  // namespace longpole::simulation
