#include "cli/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "cli/human.h"
#include "cli/json_document.h"

namespace longpole::cli {
namespace {

// Of one chart, in pixels; the names of its curves stand on the right.
constexpr double width = 560;
constexpr double height = 300;
constexpr double left = 56;
constexpr double top = 34;
constexpr double right = 130;
constexpr double bottom = 44;
constexpr double line_height = 15;
constexpr double ticks = 6;
constexpr std::size_t most_charts_in_row = 2;
// Where there are more points, they are not marked.
constexpr std::size_t most_marks = 20;
// Of Okabe and Ito: told apart by everybody. Yellow, which is not on white, left out.
constexpr std::array<const char*, 7> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#000000"};

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

// Just what there is, with marks at round numbers, at whole ones where all there is is whole.
Range snug_range(double low, double high, bool whole) {
  if (high <= low)
    high = low + 1;
  const Range round = round_range(low, high);
  return {low, high, whole ? std::max(1.0, round.step) : round.step};
}

std::string escaped(std::string_view text) {
  // Bytes that are not UTF-8, of a file name say, are replaced.
  const Json valid =
      Json::parse(Json(printable(text)).dump(-1, ' ', false, Json::error_handler_t::replace));
  std::string out;
  for (const char letter : valid.get<std::string>()) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart) : chart_(chart) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Range xs{infinity, -infinity, 1};
    Range ys{infinity, -infinity, 1};
    bool whole = true;
    for (const Curve& curve : chart.curves) {
      for (const auto& [x, y] : curve.points) {
        xs = {std::min(xs.low, x), std::max(xs.high, x), 1};
        ys = {std::min(ys.low, y), std::max(ys.high, y), 1};
        whole = whole && x == std::floor(x);
      }
    }
    if (xs.high >= xs.low) {
      xs_ = snug_range(xs.low, xs.high, whole);
      ys_ = round_range(ys.low, ys.high);
    }
  }

  std::string svg() {
    add("<text x=\"{}\" y=\"16\" font-weight=\"bold\">{}</text>\n", left, escaped(chart_.title));
    for (double y = ys_.low; y <= ys_.high + ys_.step / 2; y += ys_.step)
      add("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>"
          "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>\n",
          left, width - right, y_of(y), left - 5, y_of(y) + 4, y);
    for (double x = std::ceil(xs_.low / xs_.step - 1e-9) * xs_.step; x <= xs_.high + 1e-9;
         x += xs_.step)
      add("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.4g}</text>\n", x_of(x),
          height - bottom + 16, x);
    add("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (left + width - right) / 2,
        height - 8, escaped(chart_.x_axis));
    add("<text transform=\"translate(12 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        (top + height - bottom) / 2, escaped(chart_.y_axis));
    for (std::size_t i = 0; i < chart_.curves.size(); ++i)
      draw_curve(i);
    return std::move(svg_);
  }

 private:
  void draw_curve(std::size_t number) {
    const Curve& curve = chart_.curves[number];
    const char* const colour = colours[number % colours.size()];
    const char* const dashes = number < colours.size() ? "" : " stroke-dasharray=\"5 3\"";
    std::string points;
    for (const auto& [x, y] : curve.points)
      points += fmt::format("{:.1f},{:.1f} ", x_of(x), y_of(y));
    add("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"{}/>\n", points,
        colour, dashes);
    for (std::size_t i = 0; curve.points.size() <= most_marks && i < curve.points.size(); ++i)
      add(R"(<circle cx="{:.1f}" cy="{:.1f}" r="2" fill="{}"/>)", x_of(curve.points[i].first),
          y_of(curve.points[i].second), colour);
    const double y = top + line_height * (static_cast<double>(number) + 0.5);
    add("\n<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{3}\" "
        "stroke-width=\"1.5\"{4}/><text x=\"{5}\" y=\"{6}\">{7}</text>\n",
        width - right + 8, width - right + 26, y, colour, dashes, width - right + 31, y + 4,
        escaped(curve.name));
  }

  [[nodiscard]] double x_of(double x) const {
    return left + (x - xs_.low) / (xs_.high - xs_.low) * (width - left - right);
  }
  [[nodiscard]] double y_of(double y) const {
    return height - bottom - (y - ys_.low) / (ys_.high - ys_.low) * (height - top - bottom);
  }
  template <typename... Values>
  void add(fmt::format_string<Values...> text, Values&&... values) {
    svg_ += fmt::format(text, std::forward<Values>(values)...);
  }

  const Chart& chart_;
  Range xs_;
  Range ys_;
  std::string svg_;
};

}  // namespace

std::string svg_of(const std::vector<Chart>& charts) {
  const std::size_t in_row = std::clamp<std::size_t>(charts.size(), 1, most_charts_in_row);
  const std::size_t rows = (charts.size() + in_row - 1) / in_row;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n",
      static_cast<double>(in_row) * width, static_cast<double>(rows) * height);
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const std::size_t row = i / in_row;
    const std::size_t column = i % in_row;
    svg += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n",
                       width * static_cast<double>(column), height * static_cast<double>(row),
                       Drawing(charts[i]).svg());
  }
  return svg + "</svg>\n";
}

}  // namespace longpole::cli
