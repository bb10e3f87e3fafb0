#include "cli/bound_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/file_names.h"
#include "cli/human.h"
#include "cli/text_table.h"

namespace longpole::cli {
namespace {

// "15 × 5, 4": how many CPUs have how many threads.
std::string allocation_text(const allocation::Allocation& allocation) {
  std::string text;
  for (std::size_t i = 0; i < allocation.size();) {
    std::size_t same = i;
    while (same < allocation.size() && allocation[same] == allocation[i])
      ++same;
    text += text.empty() ? "" : ", ";
    text += same - i > 1 ? fmt::format("{} × {}", same - i, allocation[i])
                         : fmt::format("{}", allocation[i]);
    i = same;
  }
  return text;
}

std::string binding_cell(const BoundReport& report, const BoundReport::Row& row,
                         std::size_t binding) {
  const auto speedup = report.speedup(row, binding);
  if (!speedup)
    return nothing;
  return fmt::format("{:.2f}{}", *speedup, report.better_exists(row, binding) ? "*" : " ");
}

std::vector<Nanoseconds> latencies_of(const BoundReport& report) {
  std::vector<Nanoseconds> latencies;
  for (const BoundReport::Row& row : report.rows) {
    if (std::find(latencies.begin(), latencies.end(), row.latency) == latencies.end())
      latencies.push_back(row.latency);
  }
  return latencies;
}

// The points of a curve in order of x, each once.
Curve sorted(Curve curve) {
  std::sort(curve.points.begin(), curve.points.end());
  curve.points.erase(std::unique(curve.points.begin(), curve.points.end()), curve.points.end());
  return curve;
}

// The bound, and each binding, of the rows that `x_of` has an x for.
template <typename XOf>
std::vector<Curve> curves_of(const BoundReport& report, const XOf& x_of) {
  std::vector<Curve> curves{{"bound", {}}};
  for (const allocation::Algorithm binding : report.bindings)
    curves.push_back({std::string(name_of(binding)), {}});
  for (const BoundReport::Row& row : report.rows) {
    const std::optional<double> x = x_of(row);
    if (!x)
      continue;
    curves.front().points.emplace_back(*x, report.speedup(row));
    for (std::size_t i = 0; i < report.bindings.size(); ++i) {
      if (const auto speedup = report.speedup(row, i))
        curves[i + 1].points.emplace_back(*x, *speedup);
    }
  }
  for (Curve& curve : curves)
    curve = sorted(std::move(curve));
  return curves;
}

}  // namespace

double BoundReport::on_one_cpu() const {
  const auto threads = static_cast<std::uint32_t>(finder.parameters().profile.size());
  return finder.ratio({threads}, Nanoseconds{0}).convert_to<double>();
}

double BoundReport::bound_ns(const Row& row) const {
  return allocation::Rational(row.bound.ratio * recorded->ideal.count()).convert_to<double>();
}

// There is but one binding to one CPU, and what the run takes there besides computing makes it no worse.
bool BoundReport::better_exists(const Row& row, std::size_t binding) const {
  const auto& total = row.totals_ns[binding];
  return row.cpus > 1 && total && *total > bound_ns(row);
}

double BoundReport::speedup(const Row& row) const {
  return on_one_cpu() / row.bound.ratio.convert_to<double>();
}

std::optional<double> BoundReport::speedup(const Row& row, std::size_t binding) const {
  const auto& total = row.totals_ns[binding];
  if (!total)
    return std::nullopt;
  return on_one_cpu() * static_cast<double>(recorded->ideal.count()) / *total;
}

Json bound_json(const BoundReport& report) {
  Json rows = Json::array();
  for (const BoundReport::Row& row : report.rows) {
    Json line = {{"cpus", row.cpus},
                 {"latency_ns", row.latency.count()},
                 {"bound", fraction(row.bound.ratio.convert_to<double>())},
                 {"allocation", row.bound.allocation},
                 {"total_ns", report.recorded ? number(report.bound_ns(row)) : Json(nullptr)}};
    for (std::size_t i = 0; i < report.bindings.size(); ++i) {
      const auto& total = row.totals_ns[i];
      line["bindings"][std::string(name_of(report.bindings[i]))] = {
          {"total_ns", total ? number(*total) : Json(nullptr)},
          {"better_exists", report.better_exists(row, i)}};
    }
    rows.push_back(std::move(line));
  }
  return {{"rows", std::move(rows)}};
}

std::string bound_text(const BoundReport& report) {
  std::string text = report.name.empty() ? std::string("any program") : printable(report.name);
  text += fmt::format(": {}, a speed-up of {:.2f} at most",
                      count_text(report.finder.parameters().profile.size(), "thread"),
                      report.on_one_cpu());
  if (report.recorded)
    text += fmt::format(", {} in {} of work", count_text(report.recorded->signals, "signal"),
                        duration_text(report.recorded->work));
  std::vector<TextTable::Column> columns{{"CPUs"}, {"latency"}, {"bound"}};
  if (report.recorded)
    columns.push_back({"time"});
  columns.push_back({"speed-up"});
  for (const allocation::Algorithm binding : report.bindings)
    columns.push_back({std::string(name_of(binding)) + " "});
  columns.push_back({"threads on each CPU", TextTable::Align::left});
  TextTable table(std::move(columns));
  bool any_is_slower = false;
  for (const BoundReport::Row& row : report.rows) {
    std::vector<std::string> cells{count_text(row.cpus), duration_text(row.latency),
                                   fmt::format("{:.4f}", row.bound.ratio.convert_to<double>())};
    if (report.recorded)
      cells.push_back(duration_text(report.bound_ns(row)));
    cells.push_back(fmt::format("{:.2f}", report.speedup(row)));
    for (std::size_t i = 0; i < report.bindings.size(); ++i) {
      cells.push_back(binding_cell(report, row, i));
      any_is_slower |= report.better_exists(row, i);
    }
    cells.push_back(allocation_text(row.bound.allocation));
    table.add(std::move(cells));
  }
  return fmt::format(
      "{}\n\n{}\nSome binding of its threads to CPUs is that fast, or faster. One that is slower "
      "is "
      "surely not\nthe best{}; of one that is faster nothing is known.\n",
      text, table.text(terminal_width()), any_is_slower ? " (*)" : "");
}

std::vector<Chart> bound_charts(const BoundReport& report) {
  const std::string name = report.name.empty() ? "any program" : report.name;
  const std::string speedup = "speed-up";
  const std::vector<Nanoseconds> latencies = latencies_of(report);
  const bool one_count = std::all_of(
      report.rows.begin(), report.rows.end(),
      [&](const BoundReport::Row& row) { return row.cpus == report.rows.front().cpus; });
  if (one_count && latencies.size() > 1)
    return {{fmt::format("{} on {}", name, count_text(report.rows.front().cpus, "CPU")),
             "latency in µs", speedup, curves_of(report, [](const BoundReport::Row& row) {
               return std::optional(static_cast<double>(row.latency.count()) / 1000);
             })}};
  std::vector<Chart> charts;
  Chart all{name + ", the bound", "CPUs", speedup, {}};
  for (const Nanoseconds latency : latencies) {
    Chart chart{fmt::format("{}, latency {}", name, duration_text(latency)), "CPUs", speedup,
                curves_of(report, [&](const BoundReport::Row& row) {
                  return row.latency == latency ? std::optional(static_cast<double>(row.cpus))
                                                : std::nullopt;
                })};
    all.curves.push_back({duration_text(latency), chart.curves.front().points});
    if (latencies.size() == 1 || !report.bindings.empty())
      charts.push_back(std::move(chart));
  }
  if (latencies.size() > 1)
    charts.push_back(std::move(all));
  return charts;
}

}  // namespace longpole::cli
