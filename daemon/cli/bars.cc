#include "cli/bars.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace longpole::cli {
namespace {

constexpr std::size_t eighths = 8;

std::size_t rounded(double value) {
  return value > 0 ? static_cast<std::size_t>(std::llround(value)) : 0;
}

}  // namespace

std::string bar_text(double share, std::size_t width) {
  static constexpr std::array<const char*, eighths> partial = {"",  "▏", "▎", "▍",
                                                               "▌", "▋", "▊", "▉"};
  const std::size_t longest = eighths * width;
  std::size_t length = std::min(rounded(share * static_cast<double>(longest)), longest);
  if (share > 0)
    length = std::max<std::size_t>(length, 1);
  std::string out;
  for (std::size_t i = 0; i < length / eighths; ++i)
    out += "█";
  return out + partial.at(length % eighths);
}

std::string bar_text(std::span<const BarPart> parts, std::size_t width) {
  std::string out;
  double sum = 0;
  std::size_t length = 0;
  for (const BarPart& part : parts) {
    sum += part.share;
    for (; length < rounded(sum * static_cast<double>(width)); ++length)
      out += part.character;
  }
  return out;
}

std::string columns_text(std::span<const double> values, double highest) {
  static constexpr std::array<const char*, eighths + 1> heights = {" ", "▁", "▂", "▃", "▄",
                                                                   "▅", "▆", "▇", "█"};
  std::string out;
  for (const double value : values) {
    std::size_t height = highest > 0 ? rounded(value / highest * eighths) : 0;
    if (value > 0)
      height = std::clamp<std::size_t>(height, 1, eighths);
    out += heights.at(height);
  }
  return out;
}

}  // namespace longpole::cli
