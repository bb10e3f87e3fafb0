// DESIGN section 9: any viewport of 10 million events of 200 threads, on one CPU, and what the index
// takes to build and to keep.
#include <benchmark/benchmark.h>

#include <memory>

#include "analysis/timeline.h"
#include "engine_recordings.h"
#include "simulation/simulate.h"

namespace longpole {
namespace {

constexpr std::uint32_t threads = 200;
constexpr std::uint32_t cpus = 16;
constexpr std::uint32_t pixels = 2000;

const std::shared_ptr<const Recording>& recording() {
  static const auto made = std::make_shared<const Recording>(busy_recording(threads, 10'000'000));
  return made;
}

std::shared_ptr<const simulation::Schedule> schedule() {
  static const auto made =
      std::make_shared<const simulation::Schedule>(simulation::simulate_ideal(*recording()));
  return made;
}

simulation::SimulatedRun simulated() {
  simulation::Machine machine;
  machine.cpus = cpus;
  return *simulation::simulate(*recording(), machine);
}

void report_size(benchmark::State& state, const analysis::Timeline& timeline) {
  const auto events = static_cast<double>(recording()->event_count());
  state.counters["bytes_an_event"] = static_cast<double>(timeline.bytes()) / events;
  state.counters["of_the_recording"] =
      static_cast<double>(timeline.bytes()) / (events * sizeof(Event));
}

void index_shared(benchmark::State& state) {
  const auto made = schedule();
  for (auto _ : state) {
    const analysis::Timeline timeline(std::make_shared<const analysis::Execution>(
        recording(), made, cpus, analysis::Scheduler::shared));
    state.PauseTiming();
    report_size(state, timeline);
    state.ResumeTiming();
  }
}
BENCHMARK(index_shared)->Iterations(1)->Repetitions(2)->Unit(benchmark::kMillisecond);

void index_linux(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto run = simulated();
    state.ResumeTiming();
    const analysis::Timeline timeline(
        std::make_shared<const analysis::Execution>(recording(), std::move(run), cpus));
    state.PauseTiming();
    report_size(state, timeline);
    state.ResumeTiming();
  }
}
BENCHMARK(index_linux)->Iterations(1)->Unit(benchmark::kMillisecond);

// One part of so many of the run: all rows, the parallelism, the levels and the path.
void viewport(benchmark::State& state, const analysis::Timeline& timeline,
              analysis::WithNames names) {
  const Nanoseconds total = timeline.execution().total();
  const Nanoseconds width = std::max(total / state.range(0), Nanoseconds{1});
  Nanoseconds from{};
  for (auto _ : state) {
    const analysis::TimelineView view{from, from + width, pixels};
    for (std::uint32_t t = 0; t < threads; ++t)
      benchmark::DoNotOptimize(timeline.row(t, view, names));
    benchmark::DoNotOptimize(timeline.parallelism(view));
    benchmark::DoNotOptimize(timeline.levels(view));
    benchmark::DoNotOptimize(timeline.path(view));
    from = (from + total / 7) % (total - width + Nanoseconds{1});
  }
}

void viewport_shared(benchmark::State& state) {
  static const analysis::Timeline timeline(std::make_shared<const analysis::Execution>(
      recording(), schedule(), cpus, analysis::Scheduler::shared));
  viewport(state, timeline, analysis::WithNames::no);
}
void viewport_with_names(benchmark::State& state) {
  static const analysis::Timeline timeline(std::make_shared<const analysis::Execution>(
      recording(), schedule(), cpus, analysis::Scheduler::shared));
  viewport(state, timeline, analysis::WithNames::yes);
}
void viewport_linux(benchmark::State& state) {
  static const analysis::Timeline timeline(
      std::make_shared<const analysis::Execution>(recording(), simulated(), cpus));
  viewport(state, timeline, analysis::WithNames::no);
}
BENCHMARK(viewport_shared)
    ->RangeMultiplier(8)
    ->Range(1, 1 << 21)
    ->Iterations(7)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(viewport_with_names)
    ->RangeMultiplier(8)
    ->Range(1, 64)
    ->Iterations(7)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(viewport_linux)
    ->RangeMultiplier(8)
    ->Range(1, 1 << 21)
    ->Iterations(7)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace longpole
