// Curves as an SVG file: what the studies draw.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace longpole {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // in order of x
};

struct Chart {
  std::string title;
  std::string x_axis;
  std::string y_axis;
  std::vector<Curve> curves;
};

// The charts, one below the other, two side by side.
[[nodiscard]] std::string svg_of(const std::vector<Chart>& charts);

}  // namespace longpole
