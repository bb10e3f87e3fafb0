// What the recorder costs: an uncontended lock and unlock, in CPU time of the program that is
// recorded, chunk changes included.
//
//   added      over the bare pair of the same round: the number that DESIGN section 9 bounds
//   stamp      one reading of the time stamp counter, of which a recorded pair needs two
//
// Each round runs the program anew in every setting, so that a slow moment hits all of them alike.
#include <benchmark/benchmark.h>

#include <sstream>

#include "../recorder/specimen.h"

namespace {

using longpole::test::Outcome;
using longpole::test::RunDirectory;
using longpole::test::Specimen;

struct Cost {
  double pair_ns = 0;
  double stamp_ns = 0;
};

Cost cost_in(const Outcome& outcome) {
  Cost cost;
  std::istringstream(outcome.output) >> cost.pair_ns >> cost.stamp_ns;
  return {cost.pair_ns / 1000, cost.stamp_ns / 1000};
}

const Specimen kMeasured{"measured_locks"};

Cost bare() {
  return cost_in(run_bare(kMeasured));
}
Cost idle() {
  return cost_in(run_beside_idle_recorder(kMeasured));
}

Cost recorded_under(longpole_cpu_clock clock, std::uint32_t sample_hz) {
  RunDirectory directory;
  directory.control().cpu_clock = clock;
  directory.control().sample_hz = sample_hz;
  return cost_in(run_recorded(kMeasured, directory));
}

Cost recorded() {
  return recorded_under(LONGPOLE_CPU_CLOCK_KERNEL, 0);
}
Cost recorded_portably() {
  return recorded_under(LONGPOLE_CPU_CLOCK_THREAD, 250);
}

void lock_and_unlock(benchmark::State& state, Cost (*setting)()) {
  constexpr double kNanosecond = 1e-9;
  double added = 0;
  double stamp = 0;
  for ([[maybe_unused]] const auto _ : state) {
    const Cost without = bare();
    const Cost with = setting();
    state.SetIterationTime(with.pair_ns * kNanosecond);
    added += with.pair_ns - without.pair_ns;
    stamp += without.stamp_ns;
  }
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["added_ns"] = added / rounds;
  state.counters["stamp_ns"] = stamp / rounds;
}

constexpr int kRounds = 15;

BENCHMARK_CAPTURE(lock_and_unlock, bare, &bare)
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(kRounds)
    ->ReportAggregatesOnly();
BENCHMARK_CAPTURE(lock_and_unlock, idle_recorder, &idle)
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(kRounds)
    ->ReportAggregatesOnly();
BENCHMARK_CAPTURE(lock_and_unlock, recorded, &recorded)
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(kRounds)
    ->ReportAggregatesOnly();
BENCHMARK_CAPTURE(lock_and_unlock, recorded_portably, &recorded_portably)
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(kRounds)
    ->ReportAggregatesOnly();

}  // namespace
