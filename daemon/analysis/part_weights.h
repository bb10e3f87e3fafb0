// PartWeights: by how much a whole run is shorter per unit of each of its parts, in two bytes a part; in
// a bit where a part is either on the one path that there is or not.
//
// Immutable once they are complete; safe for any number of threads.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/span_index.h"
#include "simulation/large_array.h"

namespace longpole::analysis {

class PartWeights {
 public:
  PartWeights() = default;
  // `scaled`: the weights times `scale`, whole numbers.
  PartWeights(const simulation::LargeArray<std::int64_t>& scaled, std::uint32_t scale);
  // So many parts, none of them on the path yet.
  explicit PartWeights(std::size_t parts) : on_path_(parts / 8 + bytes_behind, 0) {}
  void put_on_path(PartIndex part) {
    on_path_[part / 8] = static_cast<std::uint8_t>(on_path_[part / 8] | 1U << part % 8);
  }

  // The weight times the scale; of the part behind the last, anything.
  [[nodiscard]] std::int64_t scaled(PartIndex part) const {
    if (!on_path_.empty())
      return on_path_[part / 8] >> part % 8 & 1;
    const std::int16_t scaled = weights_[part];
    return scaled == large ? large_weight(part) : scaled;
  }
  [[nodiscard]] std::uint32_t scale() const { return scale_; }
  // Some scaled weight does not fit 16 bits.
  [[nodiscard]] bool has_large() const { return !large_weights_.empty(); }
  // Σ scaled weight · time of what the block runs in its first `passed` nanoseconds, which is `ran`. Of a block
  // that is_wide() and has been read, where none is large.
  [[nodiscard]] std::int64_t weigh(const SpanIndex::Unpacked& block, std::uint32_t passed,
                                   std::uint32_t ran) const;

  [[nodiscard]] std::size_t bytes() const {
    return weights_.size() * sizeof(weights_.front()) + on_path_.size() +
           large_weights_.capacity() * sizeof(large_weights_.front());
  }

 private:
  [[nodiscard]] std::int64_t large_weight(PartIndex part) const;

  static constexpr std::size_t behind = 8;        // parts that are looked at with the last
  static constexpr std::size_t bytes_behind = 4;  // likewise
  static constexpr std::int16_t large = -0x8000;
  // Of those that do not fit `large`, and in a table of their own.
  simulation::LargeArray<std::int16_t> weights_;
  std::vector<std::pair<PartIndex, std::int64_t>> large_weights_;
  std::vector<std::uint8_t> on_path_;  // a bit each, the lowest first
  std::uint32_t scale_ = 1;
};

}  // namespace longpole::analysis
