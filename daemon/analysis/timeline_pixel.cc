#include "analysis/timeline_pixel.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace longpole::analysis {

PixelShares shares_of(const SpanTimes& times, Nanoseconds width, double scale) {
  // A byte each, in a word: what is computed in registers is not waited for, as what is stored would be.
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t shares = 0;
  std::uint32_t sum = 0;
  Nanoseconds all{};
  Nanoseconds longest{};
  unsigned bits_to_longest = 0;
  for (std::size_t s = 0; s < times.size(); ++s) {
    const auto bits = static_cast<unsigned>(8 * s);
    const auto rounded = static_cast<std::uint32_t>(static_cast<double>(times[s].count()) * scale);
    const std::uint32_t share = std::max(rounded, times[s] > Nanoseconds{} ? 1U : 0U);
    shares |= std::uint64_t{share} << bits;
    sum += share;
    all += times[s];
    bits_to_longest = times[s] > longest ? bits : bits_to_longest;
    longest = std::max(longest, times[s]);
  }
  // May be less than nothing: no byte becomes so, and what is carried is carried back.
  const std::uint32_t wanted = all == width ? whole_pixel : std::min(sum, whole_pixel - 1);
  shares += (std::uint64_t{wanted} - sum) << bits_to_longest;
  PixelShares bytes;
  std::memcpy(bytes.data(), &shares, bytes.size());
  return bytes;
}

}  // namespace longpole::analysis
