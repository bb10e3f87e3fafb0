// SpanSums: of a full block of a SpanIndex, how much has passed up to each of its spans, found with
// instructions that not every CPU has (AVX2): eight spans at a time, where any CPU can do one.
//
// Pure functions.
#pragma once

#include <cstdint>

namespace longpole::analysis {

// A block's tokens, as SpanIndex lays them out: three bits of code a span, two bits of size (the bytes of a
// length less one), then the lengths. A byte behind the codes is read, and up to 16 behind the last length.
struct FullBlock {
  const std::uint8_t* codes = nullptr;
  std::uint64_t sizes = 0;
  const std::uint8_t* lengths = nullptr;
};

// Of 32 spans; entry i is of the first i + 1, all in nanoseconds since the block began, modulo 2^32.
struct SpanSums {
  std::uint32_t* ends = nullptr;
  std::uint32_t* running = nullptr;
  std::uint32_t* runnable = nullptr;
};

// This CPU has what the functions below need; without it they must not be called.
[[nodiscard]] bool has_wide_sums();

void sum_wide(const FullBlock& block, const SpanSums& sums);
// How many of the 32 are not greater than `most`.
[[nodiscard]] std::uint32_t count_up_to_wide(const std::uint32_t* rising, std::uint32_t most);

}  // namespace longpole::analysis
