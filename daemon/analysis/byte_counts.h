// How often each of a few values stands among bytes: in one pass with instructions that not every CPU has (AVX2), where
// the CPU has them, else in a pass for each value.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <span>

namespace longpole::analysis {

// Adds to counts[i] how many of `bytes` are values[i]. As many counts as values; fewer than 2^32 bytes.
void count_each(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> values,
                std::span<std::uint32_t> counts);

// Any CPU's way to the same, for tests.
void count_each_slowly(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> values,
                       std::span<std::uint32_t> counts);

}  // namespace longpole::analysis
