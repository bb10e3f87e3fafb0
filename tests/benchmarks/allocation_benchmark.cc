// Tests a second of the searches for a binding; the time of a completion-time bound, and what part of
// all allocations is looked at for it (the paper: 102 s a point on a 300 MHz machine, and 0.0004%).
#include <benchmark/benchmark.h>

#include <thread>
#include <vector>

#include "allocation/bound.h"
#include "allocation/search.h"
#include "engine_recordings.h"

namespace longpole::allocation {
namespace {

// 10,000 tests of 32 threads with 10,000 operations are to take 5 s on two cores.
void search_10000_tests(benchmark::State& state, Algorithm algorithm) {
  const Recording recording = busy_recording(32, 10'000);
  simulation::Machine machine;
  machine.cpus = 8;
  for (auto _ : state) {
    TestBench bench(recording, machine, std::thread::hardware_concurrency());
    const auto found = search(bench, algorithm, {.tests = 10'000});
    state.counters["tests"] = static_cast<double>(found->tests);
    state.counters["simulated"] = static_cast<double>(bench.simulated());
    state.counters["best_us"] = static_cast<double>(found->trial.total.count()) / 1000;
  }
}
BENCHMARK_CAPTURE(search_10000_tests, dynamic_start, Algorithm::dynamic_start)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_10000_tests, guided, Algorithm::guided)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// 79 threads on 16 CPUs, more of them running at once the longer the profile; latency in hundredths of
// a microsecond between signals.
void bound_of_79_threads(benchmark::State& state) {
  std::vector<Rational> profile;
  for (int running = 1; running <= 79; ++running)
    profile.push_back(running <= state.range(0) ? Rational(1) / state.range(0) : Rational(0));
  const auto finder = BoundFinder::of({profile, Rational(1) / 100});
  for (auto _ : state) {
    const Bound bound = finder->find(16, Nanoseconds{state.range(1)});
    state.counters["evaluated"] = static_cast<double>(bound.evaluated);
    state.counters["ppm"] =
        1e6 * static_cast<double>(bound.evaluated) / allocation_count(79, 16).convert_to<double>();
    state.counters["bound"] = bound.ratio.convert_to<double>();
  }
}
BENCHMARK(bound_of_79_threads)
    ->ArgNames({"running", "latency"})
    ->ArgsProduct({{8, 30, 79}, {1, 8, 20, 50}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace longpole::allocation
