// DESIGN section 9: any viewport of 10 million events of 200 threads, on one CPU, and what the index
// takes to build and to keep. Of two programs: threads that mostly work side by side, and threads that
// all take turns at one lock. What a viewport takes with all that is around it: timeline_service_benchmark.
#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "analysis/timeline.h"
#include "engine_recordings.h"
#include "simulation/simulate.h"

namespace longpole {
namespace {

using analysis::Execution;
using analysis::SummaryContent;
using analysis::Timeline;

constexpr std::uint32_t threads = 200;
constexpr std::size_t events = 10'000'000;
constexpr std::uint32_t cpus = 16;
constexpr std::uint32_t pixels = 2000;

enum class Program : std::uint8_t { busy, contended };
enum class Machine : std::uint8_t { shared, linux_fair };
struct Subject {
  Program program = Program::busy;
  Machine machine = Machine::shared;
  friend bool operator==(const Subject&, const Subject&) = default;
};

// The last one asked for is kept: each takes a gigabyte.
template <typename Key, typename Value>
std::shared_ptr<const Value> cached(Key key,
                                    const std::function<std::shared_ptr<const Value>()>& make) {
  static Key kept_key;
  static std::shared_ptr<const Value> kept;
  if (kept == nullptr || !(kept_key == key)) {
    kept = nullptr;
    kept = make();
    kept_key = key;
  }
  return kept;
}

std::shared_ptr<const Recording> recording_of(Program program) {
  return cached<Program, Recording>(program, [&] {
    return std::make_shared<const Recording>(program == Program::busy
                                                 ? busy_recording(threads, events)
                                                 : contended_recording(threads, events));
  });
}

// What is left to be done when the simulation has ended.
std::function<std::shared_ptr<const Timeline>()> simulated(const Subject& subject) {
  const auto recording = recording_of(subject.program);
  if (subject.machine == Machine::shared) {
    auto schedule =
        std::make_shared<const simulation::Schedule>(simulation::simulate_ideal(*recording));
    return [=] {
      return std::make_shared<const Timeline>(std::make_shared<const Execution>(
          recording, schedule, cpus, analysis::Scheduler::shared));
    };
  }
  simulation::Machine machine;
  machine.cpus = cpus;
  auto run = std::make_shared<simulation::SimulatedRun>(*simulation::simulate(*recording, machine));
  return [=] {
    return std::make_shared<const Timeline>(
        std::make_shared<const Execution>(recording, std::move(*run), cpus));
  };
}

void index(benchmark::State& state, const Subject& subject) {
  for (auto _ : state) {
    state.PauseTiming();
    auto make = simulated(subject);
    state.ResumeTiming();
    auto timeline = make();
    state.PauseTiming();
    const auto size = static_cast<double>(timeline->execution().recording().event_count());
    const auto bytes = static_cast<double>(timeline->bytes());
    state.counters["bytes_an_event"] = bytes / size;
    state.counters["of_the_recording"] = bytes / (size * sizeof(Event));
    timeline = nullptr;
    make = nullptr;
    state.ResumeTiming();
  }
}

// One part of so many of the run: all rows, the parallelism, the levels and the path.
void viewport(benchmark::State& state, const Subject& subject, const SummaryContent& content) {
  const auto timeline = cached<Subject, Timeline>(subject, [&] { return simulated(subject)(); });
  const Nanoseconds total = timeline->execution().total();
  const Nanoseconds width = std::max(total / state.range(0), Nanoseconds{1});
  Nanoseconds from{};
  for (auto _ : state) {
    const analysis::TimelineView view{from, from + width, pixels};
    for (std::uint32_t t = 0; t < threads; ++t)
      benchmark::DoNotOptimize(timeline->row(t, view, content));
    benchmark::DoNotOptimize(timeline->parallelism(view));
    benchmark::DoNotOptimize(timeline->levels(view));
    benchmark::DoNotOptimize(timeline->path(view));
    from = (from + total / 7) % (total - width + Nanoseconds{1});
  }
}

void measure(const std::string& name, const Subject& subject) {
  const auto named = [&](const std::string& what) { return what + "/" + name; };
  benchmark::RegisterBenchmark(named("index").c_str(), index, subject)
      ->Iterations(1)
      ->Repetitions(2)
      ->DisplayAggregatesOnly(false)
      ->Unit(benchmark::kMillisecond);
  struct Colour {
    const char* name;
    SummaryContent content;
    std::int64_t last;
  };
  for (const Colour& colour : {Colour{"viewport", {}, 1 << 21},
                               {"viewport_by_weight", {.weight = true}, 64},
                               {"viewport_by_function", {.run = true}, 64},
                               {"viewport_by_lock", {.wait = true}, 64}})
    benchmark::RegisterBenchmark(named(colour.name).c_str(), viewport, subject, colour.content)
        ->RangeMultiplier(8)
        ->Range(1, colour.last)
        ->Iterations(7)
        ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace longpole

int main(int argc, char** argv) {
  using longpole::Machine;
  using longpole::Program;
  longpole::measure("busy_shared", {Program::busy, Machine::shared});
  longpole::measure("busy_linux", {Program::busy, Machine::linux_fair});
  longpole::measure("contended_shared", {Program::contended, Machine::shared});
  longpole::measure("contended_linux", {Program::contended, Machine::linux_fair});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
