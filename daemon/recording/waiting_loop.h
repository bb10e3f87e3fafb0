// Loops of machine code that wait for what another thread does, without calling anybody:
// `while (flag.load() == 0) {}`.
//
// No recorder sees such a wait, but a sample shows it, for the loop gives itself away. A lap of it writes to no memory, reads
// some that is at the same place in each lap, and leaves no register behind on which the next one builds, but counters of
// laps. So one lap is as the one before until somebody else writes what it reads. Two liberties: `xchg` may
// write, for that is how locks are tried, and a loop with a `pause` says itself that it waits (Intel 64 and IA-32
// Architectures Software Developer's Manual, volume 2, PAUSE).
//
// Pure, safe for any number of threads. Of code for x86-64, on whatever processor it is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace longpole::recording {

// How far from a sample its loop is looked for.
inline constexpr std::size_t furthest_of_waiting_loop = 512;

// Whether the shortest way from the instruction at `code[at]` back to itself is such a loop. Code that is not there or is
// none ends the search.
[[nodiscard]] bool is_in_waiting_loop(std::span<const std::uint8_t> code, std::size_t at);

}  // namespace longpole::recording
