// The same program simulated by SimGrid's actors and by Longpole: operations a second of both.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "simgrid_actors.h"
#include "simulation/simulator.h"

namespace longpole {
namespace {

void set_operations(benchmark::State& state, std::uint32_t threads) {
  state.counters["operations"] = benchmark::Counter(2.0 * rounds_of_locking * threads,
                                                    benchmark::Counter::kIsIterationInvariantRate);
}

void simgrid_actors(benchmark::State& state) {
  const auto threads = static_cast<std::uint32_t>(state.range(0));
  for (auto _ : state)
    simulate_with_simgrid(threads);
  set_operations(state, threads);
}
BENCHMARK(simgrid_actors)->Arg(32)->Iterations(1)->Unit(benchmark::kMillisecond);

void longpole_linux(benchmark::State& state) {
  const auto threads = static_cast<std::uint32_t>(state.range(0));
  Recording recording;
  recording.run.source = Source::kernel;
  for (std::uint32_t i = 0; i < 2 * threads; ++i)
    recording.objects.push_back({ObjectKind::mutex, fmt::format("lock{}", i)});
  for (std::uint32_t t = 0; t < threads; ++t) {
    Thread thread;
    thread.name = fmt::format("thread{}", t);
    for (std::uint32_t round = 0; round < rounds_of_locking; ++round) {
      for (const EventKind kind : {EventKind::mutex_lock, EventKind::mutex_unlock}) {
        Event event;
        event.cpu = Nanoseconds{work_of(t, round)};
        event.kind = kind;
        event.subject = lock_of(t, round, threads);
        thread.events.push_back(event);
      }
    }
    recording.threads.push_back(std::move(thread));
  }
  simulation::Machine machine;
  machine.cpus = 8;
  for (auto _ : state)
    benchmark::DoNotOptimize(simulation::simulate(recording, machine));
  set_operations(state, threads);
}
BENCHMARK(longpole_linux)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace longpole

BENCHMARK_MAIN();
