#include "analysis/part_weights.h"

#include <algorithm>
#include <limits>

#include "analysis/span_sums.h"

namespace longpole::analysis {

PartWeights::PartWeights(const simulation::LargeArray<std::int64_t>& scaled, std::uint32_t scale)
    : scale_(scale) {
  weights_.resize(scaled.size() + behind);
  std::fill(weights_.end() - behind, weights_.end(), std::int16_t{0});
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    const bool fits = scaled[i] > large && scaled[i] <= std::numeric_limits<std::int16_t>::max();
    weights_[i] = fits ? static_cast<std::int16_t>(scaled[i]) : large;
    if (!fits)
      large_weights_.emplace_back(static_cast<PartIndex>(i), scaled[i]);
  }
}

std::int64_t PartWeights::large_weight(PartIndex part) const {
  return std::lower_bound(
             large_weights_.begin(), large_weights_.end(),
             std::pair<PartIndex, std::int64_t>(part, std::numeric_limits<std::int64_t>::min()))
      ->second;
}

std::int64_t PartWeights::weigh(const SpanIndex::Unpacked& block, std::uint32_t passed,
                                std::uint32_t ran) const {
  const RunningBlock running{block.codes(), block.ends(), passed, ran};
  return on_path_.empty() ? weigh_wide(running, &weights_[block.first_part()])
                          : weigh_path_wide(running, on_path_.data(), block.first_part());
}

}  // namespace longpole::analysis
