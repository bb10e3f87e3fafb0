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

// In thousandths. Notes round to percents.
constexpr std::uint32_t as_on_one = 995;

std::uint32_t in_thousandths(double ratio) {
  return static_cast<std::uint32_t>(std::clamp(std::round(1000 * ratio), 1.0, 1000.0));
}

}  // namespace

std::vector<CpuTimeOn> cpu_time_on(const TurnRuns& runs, std::uint32_t threads) {
  const double in_long_slices = less_cpu_time(runs.usual, runs.in_long_slices);
  std::vector<CpuTimeOn> out;
  if (threads < 2 || in_thousandths(in_long_slices) >= as_on_one)
    return out;
  for (std::uint64_t cpus = 2; out.empty() || out.back().cpus < threads; cpus *= 2) {
    const double others =
        std::max(static_cast<double>(threads) / static_cast<double>(cpus) - 1, 0.0);
    const double saved = 1 - others / (threads - 1);
    out.push_back(
        {static_cast<std::uint32_t>(cpus), in_thousandths(1 - saved * (1 - in_long_slices))});
  }
  return out;
}

}  // namespace longpole::analysis
