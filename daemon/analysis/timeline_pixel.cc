#include "analysis/timeline_pixel.h"

#include <algorithm>

namespace longpole::analysis {

std::array<std::uint8_t, span_state_count> shares_of(const SpanTimes& times, Nanoseconds width,
                                                     double scale) {
  std::array<std::uint32_t, span_state_count> shares{};
  std::uint32_t sum = 0;
  Nanoseconds all{};
  Nanoseconds longest{};
  std::size_t most = 0;
  for (std::size_t s = 0; s < times.size(); ++s) {
    const auto share = static_cast<std::uint32_t>(static_cast<double>(times[s].count()) * scale);
    shares[s] = std::max(share, times[s] > Nanoseconds{} ? 1U : 0U);
    sum += shares[s];
    all += times[s];
    most = times[s] > longest ? s : most;
    longest = std::max(longest, times[s]);
  }
  shares[most] += (all == width ? whole_pixel : std::min(sum, whole_pixel - 1)) - sum;
  std::array<std::uint8_t, span_state_count> bytes{};
  for (std::size_t s = 0; s < shares.size(); ++s)
    bytes[s] = static_cast<std::uint8_t>(shares[s]);
  return bytes;
}

}  // namespace longpole::analysis
