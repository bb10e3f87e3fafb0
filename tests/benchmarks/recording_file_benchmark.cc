// How fast recordings load and how large their files are.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "synthetic_recording.h"
#include "trace/recording_file.h"
#include "trace/recording_text.h"

namespace longpole {
namespace {

constexpr std::size_t events = 2'000'000;
constexpr std::uint32_t threads = 8;

const Recording& recording() {
  static const Recording made = tests::synthetic_recording(events, threads);
  return made;
}

void report(benchmark::State& state, std::size_t bytes) {
  const auto count = static_cast<double>(recording().event_count());
  state.SetItemsProcessed(static_cast<std::int64_t>(count) *
                          static_cast<std::int64_t>(state.iterations()));
  state.counters["bytes/event"] = static_cast<double>(bytes) / count;
}

void load_file(benchmark::State& state) {
  const std::vector<std::uint8_t> bytes = encode_recording(recording());
  for (auto _ : state) {
    auto read = decode_recording(bytes, "benchmark");
    if (!read || read->event_count() != recording().event_count())
      std::abort();
    benchmark::DoNotOptimize(read);
  }
  report(state, bytes.size());
}
BENCHMARK(load_file)->Unit(benchmark::kMillisecond);

void validate_recording(benchmark::State& state) {
  for (auto _ : state)
    if (!validate(recording()))
      std::abort();
  report(state, sizeof(Event) * recording().event_count());
}
BENCHMARK(validate_recording)->Unit(benchmark::kMillisecond);

void save_file(benchmark::State& state) {
  std::size_t bytes = 0;
  for (auto _ : state)
    bytes = encode_recording(recording()).size();
  report(state, bytes);
}
BENCHMARK(save_file)->Unit(benchmark::kMillisecond);

void print_text(benchmark::State& state) {
  std::size_t bytes = 0;
  for (auto _ : state)
    bytes = write_recording_text(recording()).size();
  report(state, bytes);
}
BENCHMARK(print_text)->Unit(benchmark::kMillisecond);

void read_text(benchmark::State& state) {
  const std::string text = write_recording_text(recording());
  for (auto _ : state)
    if (!read_recording_text(text, "benchmark"))
      std::abort();
  report(state, text.size());
}
BENCHMARK(read_text)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace longpole
