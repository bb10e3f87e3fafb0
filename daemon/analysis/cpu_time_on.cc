#include "analysis/cpu_time_on.h"

#include <algorithm>
#include <cmath>

namespace longpole::analysis {
namespace {

// Of the usual CPU time: the median over the rounds, 1 where more than a quarter of them say that it is not less. A single
// round may say anything where others push data out of the caches, too.
double less_cpu_time(const std::vector<RealRun>& usual, const std::vector<RealRun>& otherwise) {
  const std::vector<double> ratios = cpu_time_ratios(usual, otherwise);
  const auto less = static_cast<std::size_t>(
      std::ranges::count_if(ratios, [](double ratio) { return ratio < 1; }));
  return 4 * less >= 3 * ratios.size() && !ratios.empty() ? median(ratios) : 1;
}

// Of so many threads at once nobody asks.
constexpr std::uint32_t most_groups = 1U << 20U;

// In thousandths. Notes round to percents.
constexpr std::uint32_t as_on_one = 995;

std::uint32_t in_thousandths(double ratio) {
  return static_cast<std::uint32_t>(std::clamp(std::round(1000 * ratio), 1.0, 1000.0));
}

}  // namespace

std::vector<std::uint32_t> groups_to_try(std::uint32_t cpus, std::uint32_t threads) {
  std::vector<std::uint32_t> groups;
  const std::uint32_t enough = std::min(cpus, threads);
  for (std::uint32_t count = 2; cpus > 1 && (groups.empty() || groups.back() < enough); count *= 2)
    groups.push_back(count);
  return groups;
}

std::vector<CpuTimeOn> cpu_time_on(const TurnRuns& runs, std::uint32_t threads) {
  const double least = less_cpu_time(runs.usual, runs.in_long_slices);
  std::vector<CpuTimeOn> out;
  if (in_thousandths(least) >= as_on_one)
    return out;
  if (runs.in_groups.empty()) {
    for (const std::uint32_t cpus : groups_to_try(most_groups, threads))
      out.push_back(
          {cpus,
           in_thousandths(1 - (1 - least) * std::min(std::log(cpus) / std::log(threads), 1.0))});
    return out;
  }
  double on_fewer = 1;
  for (const auto& [cpus, grouped] : runs.in_groups) {
    on_fewer = std::clamp(less_cpu_time(runs.usual, grouped), least, on_fewer);
    out.push_back({cpus, in_thousandths(on_fewer)});
  }
  if (in_thousandths(on_fewer) >= as_on_one)
    out.clear();
  return out;
}

}  // namespace longpole::analysis
