#include "recording/sample_cost.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <ratio>
#include <vector>

#include "recording/alternate_batches.h"
#include "recording/perf_rings.h"

namespace longpole::recording {
namespace {

constexpr Batches sample_batches{.of_each = 5, .longest_ns = 60'000'000};
// Twenty samples or more in a batch, so that one more or less is a twentieth.
constexpr std::uint32_t measuring_rate_hz = 10'000;
// As large as a cache of one CPU. Where a program has its data in the caches, the kernel has to fetch its own for each sample,
// and the program its own again: with nothing in them a sample of 23 to 29 us was taken to be one of 14.
constexpr std::size_t working_set_words = (1U << 20U) / sizeof(std::uint64_t);
constexpr std::size_t words_of_a_line = 8;
constexpr int passes = 360;  // of a batch: two milliseconds

std::int64_t own_cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::int64_t{used.tv_sec} * std::nano::den + used.tv_nsec;
}

std::int64_t time_of_batch(std::vector<std::uint64_t>& working_set) {
  const std::int64_t before = own_cpu_time();
  volatile std::uint64_t* const words = working_set.data();
  for (int pass = 0; pass < passes; ++pass)
    for (std::size_t i = 0; i < working_set_words; i += words_of_a_line)
      words[i] = words[i] + 1;
  return own_cpu_time() - before;
}

}  // namespace

std::int64_t cost_of_sample(std::uint32_t cpu, const std::filesystem::path& directory) {
  auto events = PerfRings::open(::getpid(), {cpu}, measuring_rate_hz, directory);
  if (!events)
    return 0;
  const OnOneCpu here(cpu);
  std::vector<std::uint64_t> working_set(working_set_words);
  const auto without_events = [&] { return time_of_batch(working_set); };
  const auto with_events = [&] {
    events->record_at_once(true);
    const std::int64_t time = time_of_batch(working_set);
    events->record_at_once(false);
    return time;
  };
  const std::vector<BatchTimes> times =
      alternate_batches(sample_batches, without_events, with_events);
  if (times.empty())
    return 0;
  BatchTimes least = times.front();
  for (const BatchTimes& pair : times) {
    least.without_ns = std::min(least.without_ns, pair.without_ns);
    least.with_ns = std::min(least.with_ns, pair.with_ns);
  }
  const std::int64_t samples =
      std::max<std::int64_t>(least.with_ns * measuring_rate_hz / std::nano::den, 1);
  return std::max<std::int64_t>(least.with_ns - least.without_ns, 0) / samples;
}

}  // namespace longpole::recording
