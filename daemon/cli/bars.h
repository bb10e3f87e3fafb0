// Bars in text, for tables that are also pictures.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace longpole::cli {

inline constexpr std::size_t bar_width = 40;  // columns, of tables that have room for one bar

// A bar of at most `width` columns for `share` of 1, to an eighth of a column. What is not nothing
// is at least an eighth.
[[nodiscard]] std::string bar_text(double share, std::size_t width);

// A bar that is made of parts: so many columns of each character as the running sum of the shares,
// rounded, has gained. The whole is as long as that of their sum.
struct BarPart {
  double share = 0;
  const char* character = "█";
};
[[nodiscard]] std::string bar_text(std::span<const BarPart> parts, std::size_t width);

// One column a value, as high as its part of `highest`: "▁▁▇█". A space is nothing.
[[nodiscard]] std::string columns_text(std::span<const double> values, double highest);

}  // namespace longpole::cli
