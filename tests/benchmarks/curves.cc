#include "curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace longpole {
namespace {

constexpr double width = 460;
constexpr double height = 300;
constexpr double left = 56;
constexpr double top = 34;
constexpr double right = 12;
constexpr double bottom = 44;
constexpr double ticks = 6;
// Of Okabe and Ito: told apart by everybody.
constexpr std::array<const char*, 8> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#000000", "#f0e442"};

struct Range {
  double low = 0;
  double high = 1;
  double step = 1;
};

// Round numbers that hold all of them.
Range round_range(double low, double high) {
  if (high <= low)
    high = low + 1;
  const double raw = (high - low) / ticks;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0}) {
    if (step < raw)
      step = factor * power;
  }
  return {std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step, step};
}

std::string draw(const Chart& chart) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double x_low = infinity;
  double x_high = -infinity;
  double y_low = infinity;
  double y_high = -infinity;
  for (const Curve& curve : chart.curves) {
    for (const auto& [x, y] : curve.points) {
      x_low = std::min(x_low, x);
      x_high = std::max(x_high, x);
      y_low = std::min(y_low, y);
      y_high = std::max(y_high, y);
    }
  }
  const Range xs = round_range(x_low, x_high);
  const Range ys = round_range(y_low, y_high);
  const auto x_of = [&](double x) {
    return left + (x - xs.low) / (xs.high - xs.low) * (width - left - right);
  };
  const auto y_of = [&](double y) {
    return height - bottom - (y - ys.low) / (ys.high - ys.low) * (height - top - bottom);
  };
  std::string svg =
      fmt::format("<text x=\"{}\" y=\"16\" font-weight=\"bold\">{}</text>\n", left, chart.title);
  for (double y = ys.low; y <= ys.high + ys.step / 2; y += ys.step)
    svg += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>\n",
        left, width - right, y_of(y), left - 5, y_of(y) + 4, y);
  for (double x = xs.low; x <= xs.high + xs.step / 2; x += xs.step)
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.4g}</text>\n",
                       x_of(x), height - bottom + 16, x);
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (left + width - right) / 2, height - 8, chart.x_axis);
  svg += fmt::format(
      "<text transform=\"translate(12 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (top + height - bottom) / 2, chart.y_axis);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const char* const colour = colours[i % colours.size()];
    std::string points;
    for (const auto& [x, y] : chart.curves[i].points)
      points += fmt::format("{:.1f},{:.1f} ", x_of(x), y_of(y));
    svg +=
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n",
                    points, colour);
    svg += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\" text-anchor=\"end\">{}</text>\n",
                       width - right - 4, top + 12 + 13 * static_cast<double>(i), colour,
                       chart.curves[i].name);
  }
  return svg;
}

}  // namespace

std::string svg_of(const std::vector<Chart>& charts) {
  const std::size_t rows = (charts.size() + 1) / 2;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n",
      2 * width, static_cast<double>(rows) * height);
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const std::size_t row = i / 2;
    svg += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n",
                       width * static_cast<double>(i % 2), height * static_cast<double>(row),
                       draw(charts[i]));
  }
  return svg + "</svg>\n";
}

}  // namespace longpole
