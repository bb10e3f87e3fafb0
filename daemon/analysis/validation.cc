#include "analysis/validation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace longpole::analysis {
namespace {

// 0 where one of them is.
Nanoseconds harmonic_mean(std::span<const RealRun> runs, Nanoseconds RealRun::*member) {
  double sum = 0;
  for (const RealRun& run : runs)
    sum += 1 / static_cast<double>((run.*member).count());
  return Nanoseconds{std::llround(static_cast<double>(runs.size()) / sum)};
}

std::optional<double> cpu_time_ratio_of(const RealRun& on_one, const RealRun& on_many) {
  const auto one = static_cast<double>(on_one.cpu_time.count());
  const auto many = static_cast<double>(on_many.cpu_time.count());
  if (one <= 0 || many <= 0)
    return std::nullopt;
  return many / one;
}

double speedup(const RealRun& on_one, const RealRun& on_many) {
  return static_cast<double>(on_one.elapsed.count()) / static_cast<double>(on_many.elapsed.count());
}

Interval least_and_largest(std::span<const double> values) {
  const auto [least, largest] = std::ranges::minmax(values);
  return {least, largest};
}

}  // namespace

RealRun without_stolen_time(const RealRun& run) {
  if (run.stolen.count() <= 0)
    return run;
  const double at_once = std::max(static_cast<double>((run.cpu_time + run.stolen).count()) /
                                      static_cast<double>(run.elapsed.count()),
                                  1.0);
  RealRun out = run;
  out.elapsed -= Nanoseconds{std::llround(static_cast<double>(run.stolen.count()) / at_once)};
  out.elapsed = std::max(out.elapsed, Nanoseconds{1});
  return out;
}

RealRun on_average_cpu(std::span<const RealRun> runs) {
  RealRun out{harmonic_mean(runs, &RealRun::elapsed), harmonic_mean(runs, &RealRun::cpu_time)};
  for (const RealRun& run : runs) {
    out.others += run.others;
    out.stolen += run.stolen;
    out.read_from_disk = std::max(out.read_from_disk, run.read_from_disk);
  }
  out.others /= static_cast<std::int64_t>(runs.size());
  out.stolen /= static_cast<std::int64_t>(runs.size());
  return out;
}

double unevenness(std::span<const std::vector<RealRun>> rounds) {
  std::vector<double> ratios;
  for (const std::vector<RealRun>& round : rounds) {
    const auto [least, most] = std::ranges::minmax(round, {}, &RealRun::elapsed);
    ratios.push_back(static_cast<double>(most.elapsed.count()) /
                     static_cast<double>(least.elapsed.count()));
  }
  return ratios.empty() ? 1 : median(std::move(ratios));
}

RunsThatRead runs_that_read(std::span<const RealRun> all) {
  constexpr std::uint64_t telling_bytes = 1'000'000;
  RunsThatRead out;
  if (all.empty())
    return out;
  const std::uint64_t least = std::ranges::min(all, {}, &RealRun::read_from_disk).read_from_disk;
  for (const RealRun& run : all) {
    if (run.read_from_disk - least < telling_bytes)
      continue;
    ++out.runs;
    out.most_bytes = std::max(out.most_bytes, run.read_from_disk);
  }
  return out;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<Interval> median_interval(std::vector<double> values) {
  const std::size_t count = values.size();
  // How probable it is that fewer than `below` of the values lie under the median: a fair coin each.
  double probability = std::exp2(-static_cast<double>(count));
  double below = probability;
  std::size_t rank = 0;
  while (below <= (1 - confidence_level) / 2 && rank < count) {
    ++rank;
    probability *= static_cast<double>(count - rank + 1) / static_cast<double>(rank);
    below += probability;
  }
  if (rank == 0)
    return std::nullopt;
  std::sort(values.begin(), values.end());
  return Interval{values[rank - 1], values[count - rank]};
}

bool is_known_to(double within, double median, const Interval& interval) {
  return median - interval.low <= within * median && interval.high - median <= within * median;
}

std::vector<double> cpu_time_ratios(std::span<const RealRun> on_one,
                                    std::span<const RealRun> on_many) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < on_many.size(); ++round) {
    if (const auto ratio = cpu_time_ratio_of(on_one[round], on_many[round]))
      ratios.push_back(*ratio);
  }
  return ratios;
}

CpuTimeRatio cpu_time_ratio(std::span<const RealRun> on_one, std::span<const RealRun> on_many) {
  const std::vector<double> ratios = cpu_time_ratios(on_one, on_many);
  if (ratios.empty())
    return {};
  const auto interval = median_interval(ratios);
  return {median(ratios), interval.value_or(least_and_largest(ratios))};
}

Interval spread_of_schedules(std::span<const RealRun> on_one, std::span<const RealRun> on_many,
                             double computing) {
  std::vector<double> speedups;
  for (std::size_t round = 0; round < on_many.size(); ++round) {
    const double ratio = cpu_time_ratio_of(on_one[round], on_many[round]).value_or(1);
    speedups.push_back(speedup(on_one[round], on_many[round]) * std::pow(ratio, computing));
  }
  const double middle = median(speedups);
  const Interval all = least_and_largest(speedups);
  return {all.low / middle, all.high / middle};
}

Real real_speedup(std::span<const RealRun> on_one, std::span<const RealRun> on_many,
                  std::uint32_t cpus) {
  std::vector<double> elapsed;
  std::vector<double> cpu_time;
  std::vector<double> speedups;
  double others = 0;
  double stolen = 0;
  for (std::size_t round = 0; round < on_many.size(); ++round) {
    elapsed.push_back(static_cast<double>(on_many[round].elapsed.count()));
    others += static_cast<double>(on_many[round].others.count());
    stolen += static_cast<double>(on_many[round].stolen.count());
    cpu_time.push_back(static_cast<double>(on_many[round].cpu_time.count()));
    speedups.push_back(speedup(on_one[round], on_many[round]));
  }
  Real real;
  real.elapsed_ns = median(elapsed);
  real.cpu_time_ns = median(cpu_time);
  const double all = std::accumulate(elapsed.begin(), elapsed.end(), 0.0) * cpus;
  real.others_share = others / all;
  real.stolen_share = stolen / (all + stolen);
  real.speedup = median(speedups);
  real.range = least_and_largest(speedups);
  real.confidence = median_interval(speedups);
  return real;
}

PredictionError error_of(const Real& real, double predicted_speedup) {
  const auto error = [&](double actual) { return std::abs(actual - predicted_speedup) / actual; };
  PredictionError out{error(real.speedup), std::nullopt};
  if (real.confidence) {
    const auto [low, high] = *real.confidence;
    const bool inside = low <= predicted_speedup && predicted_speedup <= high;
    out.confidence =
        Interval{inside ? 0 : std::min(error(low), error(high)), std::max(error(low), error(high))};
  }
  return out;
}

RulesOfThumb::RulesOfThumb(std::span<const simulation::ConcurrencyStep> ideal, std::size_t threads)
    : threads_(std::max<std::size_t>(threads, 1)) {
  double alone = 0;
  double work = 0;
  double by_threads = 0;
  for (std::size_t i = 1; i < ideal.size(); ++i) {
    const double running = ideal[i - 1].running;
    const double done = running * static_cast<double>((ideal[i].time - ideal[i - 1].time).count());
    work += done;
    by_threads += done * running;
    if (ideal[i - 1].running == 1)
      alone += done;
  }
  serial_fraction_ = work > 0 ? alone / work : 1;
  if (work > 0)
    threads_at_once_ = static_cast<std::uint32_t>(std::lround(by_threads / work));
}

RulesOfThumb RulesOfThumb::of(const Recording& recording) {
  return {simulation::concurrency(simulation::simulate_ideal(recording)), recording.threads.size()};
}

double RulesOfThumb::amdahl(std::uint32_t cpus) const {
  return 1 / (serial_fraction_ + (1 - serial_fraction_) / cpus);
}

double RulesOfThumb::limit(std::uint32_t cpus) const {
  return static_cast<double>(std::min<std::size_t>(cpus, threads_));
}

}  // namespace longpole::analysis
