// A program of threads that compute and take turns at locks, and SimGrid's simulation of it, apart from
// everything of ours: both have an Event.
#pragma once

#include <cstdint>

namespace longpole {

inline constexpr std::uint32_t rounds_of_locking = 2000;

// In nanoseconds, before the lock and inside.
inline std::int64_t work_of(std::uint32_t thread, std::uint32_t round) {
  return 1000 + (thread * 7919 + round * 104'729) % 4001;
}
// Of 2 · threads locks.
inline std::uint32_t lock_of(std::uint32_t thread, std::uint32_t round, std::uint32_t threads) {
  return (thread * 31 + round * 17) % (2 * threads);
}

// With actors on a host of 8 cores. Once in a process: SimGrid has one engine.
void simulate_with_simgrid(std::uint32_t threads);

}  // namespace longpole
