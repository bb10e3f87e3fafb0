// The measures of Quartz and Intel Thread Profiler on 10 million segments: linear, whatever the
// number of threads.
#include <benchmark/benchmark.h>

#include "analysis/concurrency_classes.h"
#include "analysis/quartz.h"
#include "engine_recordings.h"
#include "simulation/simulate.h"

namespace longpole {
namespace {

constexpr std::size_t segments = 10'000'000;

void quartz_tree_of_10_million_segments(benchmark::State& state) {
  const Recording recording = busy_recording(static_cast<std::uint32_t>(state.range(0)), segments);
  const simulation::Schedule schedule = simulation::simulate_ideal(recording);
  for (auto _ : state)
    benchmark::DoNotOptimize(analysis::Quartz(recording, schedule));
}
BENCHMARK(quartz_tree_of_10_million_segments)
    ->Arg(4)
    ->Arg(32)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);

void quartz_report_of_10_million_segments(benchmark::State& state) {
  const Recording recording = busy_recording(static_cast<std::uint32_t>(state.range(0)), segments);
  const simulation::Schedule schedule = simulation::simulate_ideal(recording);
  const analysis::Quartz quartz(recording, schedule);
  for (auto _ : state)
    benchmark::DoNotOptimize(quartz.report(8, analysis::Scheduler::shared));
}
BENCHMARK(quartz_report_of_10_million_segments)
    ->Arg(4)
    ->Arg(32)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);

void classes_of_10_million_segments(benchmark::State& state) {
  const Recording recording = busy_recording(static_cast<std::uint32_t>(state.range(0)), segments);
  const simulation::Schedule schedule = simulation::simulate_ideal(recording);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        analysis::classify_concurrency(recording, schedule, 8, analysis::Scheduler::shared));
}
BENCHMARK(classes_of_10_million_segments)
    ->Arg(4)
    ->Arg(32)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace longpole
