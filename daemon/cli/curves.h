// Curves as an SVG file: what `bound --chart` and the studies in tests/benchmarks/ draw.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace longpole::cli {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // in order of x; finite
};

struct Chart {
  std::string title;
  std::string x_axis;
  std::string y_axis;
  std::vector<Curve> curves;
};

// The charts, two side by side. Any text may be in names and titles.
[[nodiscard]] std::string svg_of(const std::vector<Chart>& charts);

}  // namespace longpole::cli
