// Reads what append_number() (trace/byte_stream.h) wrote, without a look at one byte after the other: how many there
// are is guessed wrongly every other time where millions are read in a row.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "trace/byte_stream.h"

namespace longpole::analysis {

// That are read with a number, and have to be there behind the last.
inline constexpr std::size_t bytes_behind_numbers = 8;

// Leaves `at` behind it.
[[nodiscard]] inline std::uint64_t take_number_quickly(const std::uint8_t*& at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof(bytes));
  const std::uint64_t last =
      ~bytes & 0x8080808080808080U;  // the highest bit of those that end a number
  if (last == 0) [[unlikely]]
    return take_number(at);
  at += static_cast<std::size_t>(std::countr_zero(last)) / 8 + 1;
  // Up to the first of those; then seven bits, twice as many and four times as many are put together.
  bytes &= (last ^ (last - 1)) & 0x7f7f7f7f7f7f7f7fU;
  bytes = (bytes & 0x007f007f007f007fU) | (bytes & 0x7f007f007f007f00U) >> 1U;
  bytes = (bytes & 0x00003fff00003fffU) | (bytes & 0x3fff00003fff0000U) >> 2U;
  return (bytes & 0x000000000fffffffU) | (bytes & 0x0fffffff00000000U) >> 4U;
}

}  // namespace longpole::analysis
