// DESIGN section 9: operations a second of the simulation, the sweep over 10 million segments, a
// change of CPU count on a million events.
#include <benchmark/benchmark.h>

#include <memory>
#include <numeric>
#include <vector>

#include "analysis/critical_path.h"
#include "analysis/study.h"
#include "engine_recordings.h"
#include "simulation/simulate.h"
#include "simulation/simulator.h"

namespace longpole {
namespace {

void simulate(benchmark::State& state) {
  const Recording recording = busy_recording(static_cast<std::uint32_t>(state.range(0)), 4'000'000);
  for (auto _ : state)
    benchmark::DoNotOptimize(simulation::simulate_ideal(recording));
  state.counters["operations"] = benchmark::Counter(static_cast<double>(recording.event_count()),
                                                    benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(simulate)->Arg(2)->Arg(32)->Arg(1000)->Unit(benchmark::kMillisecond);

// A consumer that needs only sums.
class TimeOnCpu final : public simulation::StretchConsumer {
 public:
  void add(const simulation::Stretch& stretch) override {
    if (stretch.running())
      time_ += stretch.end - stretch.start;
  }

 private:
  Nanoseconds time_{};
};

void simulate_machine(benchmark::State& state, simulation::SchedulerKind scheduler) {
  const Recording recording = busy_recording(static_cast<std::uint32_t>(state.range(0)), 4'000'000);
  simulation::Machine machine;
  machine.scheduler = scheduler;
  machine.cpus = static_cast<std::uint32_t>(state.range(1));
  for (auto _ : state) {
    TimeOnCpu sum;
    benchmark::DoNotOptimize(simulation::simulate(recording, machine, sum));
  }
  state.counters["operations"] = benchmark::Counter(static_cast<double>(recording.event_count()),
                                                    benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(simulate_machine, linux, simulation::SchedulerKind::linux_fair)
    ->ArgNames({"threads", "cpus"})
    ->ArgsProduct({{2, 32, 1000}, {1, 8, 64}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_machine, fifo, simulation::SchedulerKind::fifo)
    ->ArgNames({"threads", "cpus"})
    ->ArgsProduct({{32}, {8}})
    ->Unit(benchmark::kMillisecond);

void sweep_10_million_segments(benchmark::State& state) {
  const simulation::Schedule schedule = simulation::simulate_ideal(
      busy_recording(static_cast<std::uint32_t>(state.range(0)), 10'000'000));
  for (auto _ : state)
    benchmark::DoNotOptimize(analysis::extended_critical_path(schedule, 8));
  state.counters["segments"] = benchmark::Counter(static_cast<double>(schedule.segments.size()),
                                                  benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(sweep_10_million_segments)->Arg(4)->Arg(32)->Arg(1000)->Unit(benchmark::kMillisecond);

// With the sums by function and line, Quartz's included; on as many threads as there are CPUs.
void sums_of_10_million_segments(benchmark::State& state) {
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(state.range(1)));
  std::iota(counts.begin(), counts.end(), 1);
  const auto recording = std::make_shared<const Recording>(
      busy_recording(static_cast<std::uint32_t>(state.range(0)), 10'000'000));
  for (auto _ : state) {
    state.PauseTiming();
    const analysis::Study study(recording);
    state.ResumeTiming();
    study.prepare(counts);
    for (const std::uint32_t cpus : counts)
      benchmark::DoNotOptimize(
          study.functions(cpus, analysis::Scheduler::shared, analysis::WithHeadroom::no));
  }
}
BENCHMARK(sums_of_10_million_segments)
    ->Args({32, 1})
    ->Args({32, 64})
    ->Args({1000, 1})
    ->Args({1000, 64})
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Iterations(1)
    ->Repetitions(3)
    ->Unit(benchmark::kMillisecond);

// All that the editor asks for after a recording, and the crossing points.
void all_counts_of_a_million_events(benchmark::State& state) {
  std::vector<std::uint32_t> counts(64);
  std::iota(counts.begin(), counts.end(), 1);
  const auto recording = std::make_shared<const Recording>(
      busy_recording(static_cast<std::uint32_t>(state.range(0)), 1'000'000));
  for (auto _ : state) {
    const analysis::Study study(recording);
    study.prepare(counts);
    for (const std::uint32_t cpus : counts) {
      benchmark::DoNotOptimize(study.lines(cpus, analysis::Scheduler::shared));
      benchmark::DoNotOptimize(
          study.functions(cpus, analysis::Scheduler::shared, analysis::WithHeadroom::no));
    }
    benchmark::DoNotOptimize(study.leads(64));
  }
}
BENCHMARK(all_counts_of_a_million_events)
    ->Arg(32)
    ->Arg(1000)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

void study_of_a_million_events(benchmark::State& state) {
  const auto recording = std::make_shared<const Recording>(
      busy_recording(static_cast<std::uint32_t>(state.range(0)), 1'000'000));
  for (auto _ : state)
    benchmark::DoNotOptimize(analysis::Study(recording));
}
BENCHMARK(study_of_a_million_events)->Arg(4)->Arg(32)->Arg(1000)->Unit(benchmark::kMillisecond);

// Each iteration asks for a CPU count that was not asked for lately.
void change_of_cpus(benchmark::State& state) {
  const auto threads = static_cast<std::uint32_t>(state.range(0));
  const analysis::Study study(
      std::make_shared<const Recording>(busy_recording(threads, 1'000'000)));
  std::uint32_t cpus = 0;
  for (auto _ : state) {
    cpus = cpus % threads + 1;
    benchmark::DoNotOptimize(study.lines(cpus, analysis::Scheduler::shared));
    benchmark::DoNotOptimize(
        study.functions(cpus, analysis::Scheduler::shared, analysis::WithHeadroom::no));
  }
}
BENCHMARK(change_of_cpus)->Arg(1000)->Iterations(20)->Unit(benchmark::kMillisecond);
BENCHMARK(change_of_cpus)->Arg(32)->Iterations(32)->Unit(benchmark::kMillisecond);

void headroom_of_a_million_events(benchmark::State& state) {
  const analysis::Study study(std::make_shared<const Recording>(busy_recording(32, 1'000'000)));
  for (auto _ : state)
    benchmark::DoNotOptimize(
        study.functions(8, analysis::Scheduler::shared, analysis::WithHeadroom::yes));
}
BENCHMARK(headroom_of_a_million_events)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace longpole
