#include "recording/sample_cost.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "recording/options.h"
#include "recording/perf_rings.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr int batches = 5;
constexpr std::int64_t longest = 60'000'000;  // ns, for all of them: others may want this CPU
// Twenty samples or more in a batch, so that one more or less is a twentieth.
constexpr std::uint32_t measuring_rate_hz = 10'000;
constexpr int steps = 1'500'000;  // of a batch: two milliseconds

constexpr std::int64_t largest_part = 200;  // of the CPU time: one in so many
constexpr std::uint32_t lowest_default_rate_hz = 100;

std::int64_t own_cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::int64_t{used.tv_sec} * second + used.tv_nsec;
}

// Each step needs the one before, so that nothing but an interrupt makes it longer.
std::int64_t time_of_batch() {
  const std::int64_t before = own_cpu_time();
  volatile double result = 1;
  double x = result;
  for (int i = 0; i < steps; ++i)
    x = x * 1.0000001 + 1e-9;
  result = x;
  return own_cpu_time() - before;
}

std::int64_t cost_on_this_cpu(PerfRings& events) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::array<std::int64_t, 2> best = {none, none};
  const std::int64_t end = monotonic_ns() + longest;
  for (int batch = 0; batch < 2 * batches && monotonic_ns() < end; ++batch) {
    const bool sampled = batch % 2 == 1;
    events.record_at_once(sampled);
    best.at(sampled ? 1 : 0) = std::min(best.at(sampled ? 1 : 0), time_of_batch());
  }
  events.record_at_once(false);
  if (best[1] == none || best[1] <= best[0])
    return 0;
  const std::int64_t samples = std::max<std::int64_t>(best[1] * measuring_rate_hz / second, 1);
  return (best[1] - best[0]) / samples;
}

}  // namespace

std::int64_t cost_of_sample(std::uint32_t cpu, const std::filesystem::path& directory) {
  auto events = PerfRings::open(::getpid(), {cpu}, measuring_rate_hz, directory);
  if (!events)
    return 0;
  const std::vector<std::uint32_t> before = usable_cpus();
  run_on({cpu});
  const std::int64_t cost = cost_on_this_cpu(*events);
  run_on(before);
  return cost;
}

std::uint32_t affordable_rate_hz(std::int64_t sample_ns) {
  const std::int64_t affordable =
      second / largest_part / std::clamp<std::int64_t>(sample_ns, 1, second);
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(affordable, lowest_default_rate_hz, default_rate_hz));
}

}  // namespace longpole::recording
