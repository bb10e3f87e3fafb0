#include "analysis/cpu_time_on.h"

#include <algorithm>
#include <cmath>

namespace longpole::analysis {
namespace {

std::uint32_t in_thousandths(double ratio) {
  return static_cast<std::uint32_t>(
      std::clamp(std::round(1000 * ratio), 1.0, double{most_cpu_time_thousandths}));
}

// Notes round to percents.
bool is_as_on_one(const CpuTimeOn& one) {
  return one.thousandths >= 995 && one.thousandths <= 1005;
}

}  // namespace

std::vector<std::uint32_t> cpu_counts_to_try(std::uint32_t cpus, std::uint32_t threads) {
  std::vector<std::uint32_t> out;
  const std::uint32_t enough = std::min(cpus, threads);
  for (std::uint64_t count = 2; enough > 1 && (out.empty() || out.back() < enough); count *= 2)
    out.push_back(static_cast<std::uint32_t>(count));
  return out;
}

std::vector<CpuTimeOn> cpu_time_on(const TurnRuns& runs, const std::vector<RealRun>& on_average_cpu,
                                   std::uint32_t threads) {
  std::vector<CpuTimeOn> out;
  for (const auto& [cpus, copies] : runs.of_copies)
    out.push_back({cpus, in_thousandths(cpu_time_ratio(on_average_cpu, copies).median)});
  if (out.empty()) {
    const double in_long_slices =
        std::min(cpu_time_ratio(runs.usual, runs.in_long_slices).median, 1.0);
    for (const std::uint32_t cpus : cpu_counts_to_try(threads, threads)) {
      const double others =
          std::max(static_cast<double>(threads) / static_cast<double>(cpus) - 1, 0.0);
      const double saved = 1 - others / (threads - 1);
      out.push_back({cpus, in_thousandths(1 - saved * (1 - in_long_slices))});
    }
  }
  if (std::ranges::all_of(out, is_as_on_one))
    out.clear();
  return out;
}

}  // namespace longpole::analysis
