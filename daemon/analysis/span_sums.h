// SpanSums: of a full block of a SpanIndex, how much has passed up to each of its spans, found with
// instructions that not every CPU has (AVX2): eight spans at a time, where any CPU can do one.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace longpole::analysis {

// A block's tokens, as SpanIndex lays them out: three bits of code a span, two bits of size (the bytes of a
// length less one), then the lengths. A byte behind the codes is read, and up to 16 behind the last length.
struct FullBlock {
  static constexpr std::uint32_t spans = 32;
  // What a code says: runs, or is runnable. Bit i: a span of code i ends its part.
  static constexpr std::uint8_t running = 0;
  static constexpr std::uint8_t runnable = 1;
  static constexpr std::uint8_t ending = 0b01111001;

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

// The same block up to a time in it, which has run for `ran` by then: `ends` is SpanSums::ends with a 0 before it.
struct RunningBlock {
  const std::uint8_t* codes = nullptr;
  const std::uint32_t* ends = nullptr;
  std::uint32_t passed = 0;
  std::uint32_t ran = 0;
};

// Of a block, up to a time in it.
struct PassedSpans {
  std::uint32_t ended = 0;  // spans that end then or before
  std::uint32_t running = 0;
  std::uint32_t runnable = 0;
};

// This CPU has what the functions below need; without it they must not be called.
[[nodiscard]] bool has_wide_sums();

void sum_wide(const FullBlock& block, const SpanSums& sums);
// For one look at a block, at less cost than its sums. Fills SpanSums::ends.
[[nodiscard]] PassedSpans pass_wide(const FullBlock& block, std::uint32_t time,
                                    std::uint32_t* ends);
// How many of the 32 are not greater than `most`.
[[nodiscard]] std::uint32_t count_up_to_wide(const std::uint32_t* rising, std::uint32_t most);
// The first of those that run longest, and of those that neither run nor are runnable. `ends` as in RunningBlock.
[[nodiscard]] std::uint32_t longest_run_wide(const std::uint8_t* codes, const std::uint32_t* ends);
[[nodiscard]] std::uint32_t longest_wait_wide(const std::uint8_t* codes, const std::uint32_t* ends);
// Σ weight · time. The weights are those of the block's parts, in order, and of up to eight behind them.
[[nodiscard]] std::int64_t weigh_wide(const RunningBlock& block, const std::int16_t* weights);
// The same, where a weight is a bit, the lowest of a byte first; `part`: that of the block's first part.
[[nodiscard]] std::int64_t weigh_path_wide(const RunningBlock& block, const std::uint8_t* on_path,
                                           std::size_t part);

}  // namespace longpole::analysis
