// TimelineView: a part of an execution, cut into the pixels of a picture.
#pragma once

#include <cstdint>

#include "trace/types.h"

namespace longpole::analysis {

// Pixel i begins at from + (to − from) · i / pixels, rounded down. 0 ≤ from < to, pixels ≥ 1.
struct TimelineView {
  Nanoseconds from{};
  Nanoseconds to{};
  std::uint32_t pixels = 1;

  [[nodiscard]] Nanoseconds edge(std::uint32_t pixel) const;
  // The pixel that a time of the interval is in; of its end, the last.
  [[nodiscard]] std::uint32_t pixel(Nanoseconds time) const;
};

// Shares are in parts of so many.
inline constexpr std::uint32_t whole_pixel = 255;

}  // namespace longpole::analysis
