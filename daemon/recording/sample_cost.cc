#include "recording/sample_cost.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "recording/alternate_batches.h"
#include "recording/perf_rings.h"

namespace longpole::recording {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr Batches batches{.of_each = 5, .longest_ns = 60'000'000};
// Twenty samples or more in a batch, so that one more or less is a twentieth.
constexpr std::uint32_t measuring_rate_hz = 10'000;
constexpr int steps = 1'500'000;  // of a batch: two milliseconds

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

}  // namespace

std::int64_t cost_of_sample(std::uint32_t cpu, const std::filesystem::path& directory) {
  auto events = PerfRings::open(::getpid(), {cpu}, measuring_rate_hz, directory);
  if (!events)
    return 0;
  const OnOneCpu here(cpu);
  const auto with_events = [&] {
    events->record_at_once(true);
    const std::int64_t time = time_of_batch();
    events->record_at_once(false);
    return time;
  };
  const std::vector<BatchTimes> times = alternate_batches(batches, time_of_batch, with_events);
  if (times.empty())
    return 0;
  BatchTimes least = times.front();
  for (const BatchTimes& pair : times) {
    least.without_ns = std::min(least.without_ns, pair.without_ns);
    least.with_ns = std::min(least.with_ns, pair.with_ns);
  }
  const std::int64_t samples =
      std::max<std::int64_t>(least.with_ns * measuring_rate_hz / second, 1);
  return std::max<std::int64_t>(least.with_ns - least.without_ns, 0) / samples;
}

}  // namespace longpole::recording
