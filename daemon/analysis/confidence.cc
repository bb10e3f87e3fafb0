#include "analysis/confidence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

namespace longpole::analysis {
namespace {

// Copying a recording takes as much memory again.
constexpr std::size_t most_events_to_copy = 4'000'000;
constexpr double telling_share = 0.005;
constexpr double most_share_untold = 0.05;
constexpr double doubtful_cost = 1.0 / 3;
constexpr std::uint64_t fewest_samples = 100;
constexpr double fewest_expected = 20;
constexpr double telling_part = 0.5;     // of the samples to be expected
constexpr double most_refilling = 0.99;  // something is computed
// Each doubt is simulated again. With more events, on one of the courses that chance can take.
constexpr std::size_t most_events_for_all_courses = 30'000;

bool was_recorded(const Recording& recording) {
  return (recording.run.source == Source::kernel || recording.run.source == Source::portable) &&
         recording.run.cpu_time > Nanoseconds{};
}

Nanoseconds unknown_waits(const Recording& recording) {
  Nanoseconds sum{};
  for (const Thread& thread : recording.threads)
    for (const Event& event : thread.events)
      if (event.kind == EventKind::external_wait)
        sum += event.duration;
  return sum;
}

std::shared_ptr<const Recording> without_waits(const Recording& recording) {
  Recording copy = recording;
  for (Thread& thread : copy.threads)
    for (Event& event : thread.events)
      if (event.kind == EventKind::external_wait)
        event.duration = {};
  return std::make_shared<const Recording>(std::move(copy));
}

// What is not said of the machine is the recording's.
Computer with_costs(Computer computer, const HostCosts& costs, int times) {
  simulation::Machine& machine = computer.machine;
  const auto change = [&](std::optional<Nanoseconds>& cost, Nanoseconds recorded) {
    cost = std::min(cost.value_or(recorded) * times, simulation::longest_cost);
  };
  change(machine.migration_cost, costs.migration);
  machine.deep_sleep = simulation::deep_sleep_of(machine, costs);
  change(machine.deep_wake_up, costs.deep_wake_up);
  change(machine.deep_release_cost, costs.deep_release);
  change(machine.wake_up, costs.wake_up);
  change(machine.interrupt, costs.interrupt);
  change(machine.interruption, costs.interruption);
  change(machine.switch_cost, costs.context_switch);
  change(machine.block_cost, costs.block);
  change(machine.release_cost, costs.release);
  change(machine.release_afar_cost, costs.release_afar);
  change(machine.lock_afar_cost, costs.lock_afar);
  return computer;
}

Computer with_newly_idle_share(Computer computer, std::uint32_t share) {
  computer.machine.newly_idle_share = share;
  return computer;
}

}  // namespace

double recording_share(const Recording& recording) {
  const auto cost = static_cast<double>(recording.run.cost_per_event.count()) *
                    static_cast<double>(recording.event_count());
  const auto used = static_cast<double>(recording.run.cpu_time.count());
  return used > 0 ? std::clamp(cost / used, 0.0, 1.0) : 0;
}

std::vector<Notice> doubts_of(const Recording& recording) {
  if (recording.run.source != Source::kernel && recording.run.source != Source::portable)
    return {};
  std::vector<Notice> doubts;
  if (const double share = recording_share(recording); share > most_share_untold)
    doubts.push_back(
        {"recording-costly",
         fmt::format("{:.1f}% of the CPU time went into recording and was taken out again",
                     share * 100)});
  const std::uint64_t samples = recording.run.samples;
  if (samples < fewest_samples) {
    const std::string rate = recording.run.sample_hz != 0
                                 ? fmt::format(", at {} to a second of it", recording.run.sample_hz)
                                 : "";
    doubts.push_back({"few-samples",
                      fmt::format("where the CPU time went is known from {} {} alone{}", samples,
                                  samples == 1 ? "sample" : "samples", rate),
                      samples});
  }
  const double expected =
      static_cast<double>(recording.run.cpu_time.count()) / 1e9 * recording.run.sample_hz;
  if (recording.run.source == Source::kernel && expected >= fewest_expected &&
      static_cast<double>(samples) < expected * telling_part)
    doubts.push_back({"threads-too-short",
                      fmt::format("of some {:.0f} samples {} were taken: threads that end before "
                                  "their first one, after {:.1f} ms of CPU time, have none; "
                                  "`longpole record --source portable` samples them, too",
                                  expected, samples, 1e3 / recording.run.sample_hz),
                      samples});
  std::vector<std::string> shares;
  for (const CpuTimeOn& one : recording.run.cpu_time_on)
    if (const std::uint32_t percent = (one.thousandths + 5) / 10; percent != 100)
      shares.push_back(fmt::format("{}% on {}", percent, one.cpus));
  if (!shares.empty())
    doubts.push_back(
        {"caches",
         fmt::format(
             "threads push each other's data out of the caches of a CPU, and CPUs share caches and "
             "memory: of its CPU time on one CPU it takes {}, by further runs of it; the "
             "schedulers shared and ideal know nothing of that",
             fmt::join(shares, ", "))});
  return doubts;
}

std::optional<Confidence> Confidence::of(std::shared_ptr<const Recording> recording) {
  if (!was_recorded(*recording))
    return std::nullopt;
  return Confidence(std::move(recording));
}

Confidence::Confidence(std::shared_ptr<const Recording> recording)
    : recording_(std::move(recording)), forecaster_(std::make_unique<Forecaster>(recording_)) {
  const auto waits = static_cast<double>(unknown_waits(*recording_).count());
  if (waits > telling_share * static_cast<double>(recording_->run.elapsed.count()) &&
      recording_->event_count() <= most_events_to_copy)
    without_unknown_waits_ = std::make_unique<Forecaster>(without_waits(*recording_));
}

Expected<Interval> Confidence::of_speedup(const Computer& computer, const ModelChoice& models,
                                          double on_one_ns, double total_ns) const {
  if (on_one_ns <= 0 || total_ns <= 0)
    return Interval{1, 1};
  const double predicted = on_one_ns / total_ns;
  const auto courses = recording_->event_count() <= most_events_for_all_courses
                           ? Forecaster::Courses::middle
                           : Forecaster::Courses::given;
  Interval out{predicted, predicted};
  // As far as the furthest of what one doubt lets it be, to either side.
  const auto shift = [&](std::initializer_list<double> speedups) {
    out = with_doubt(out, predicted, {std::min(speedups), std::max(speedups)});
  };
  const auto over = [&](const Forecaster& forecaster, double other_on_one_ns,
                        const Computer& other) -> Expected<double> {
    const auto on_many = forecaster.on(other, models, courses);
    if (!on_many)
      return tl::unexpected(on_many.error());
    return on_many->deadlock || on_many->total_ns <= 0 ? predicted
                                                       : other_on_one_ns / on_many->total_ns;
  };
  const auto speedup_on = [&](const Forecaster& forecaster,
                              const Computer& other) -> Expected<double> {
    const auto on_one = forecaster.on(with_one_cpu(other), models, courses);
    if (!on_one)
      return tl::unexpected(on_one.error());
    return on_one->deadlock ? predicted : over(forecaster, on_one->total_ns, other);
  };
  const bool is_machine = computer.kind == Computer::Kind::machine;
  if (is_machine) {
    const HostCosts costs = simulation::recorded_costs(*recording_);
    const auto free = speedup_on(*forecaster_, with_costs(computer, costs, 0));
    const auto dear = speedup_on(*forecaster_, with_costs(computer, costs, 2));
    if (!free || !dear)
      return tl::unexpected((free ? dear : free).error());
    shift({*free, *dear});
  }
  if (is_machine && computer.machine.cpus > 1 &&
      computer.machine.scheduler == simulation::SchedulerKind::linux_fair) {
    // On one CPU it makes no difference.
    const auto never = over(*forecaster_, on_one_ns, with_newly_idle_share(computer, 0));
    const auto always = over(*forecaster_, on_one_ns,
                             with_newly_idle_share(computer, simulation::most_newly_idle_share));
    if (!never || !always)
      return tl::unexpected((never ? always : never).error());
    shift({*never, *always});
  }
  if (without_unknown_waits_ != nullptr) {
    const auto without = speedup_on(*without_unknown_waits_, computer);
    if (!without)
      return tl::unexpected(without.error());
    shift({*without});
  }
  const double left_in = recording_share(*recording_) * doubtful_cost;
  shift({predicted * (1 - left_in), predicted * (1 + left_in)});
  if (is_machine) {
    const double cpu_time = simulation::cpu_time_on(recording_->run, computer.machine.cpus);
    const double half = (1 - cpu_time) / 2;
    const double uncorrected = predicted * cpu_time;
    shift({uncorrected, uncorrected / std::max(cpu_time - half, 1 - most_refilling)});
  }
  return out;
}

// A speed-up is a ratio: half as much is as far away as twice as much.
Interval with_doubt(Interval interval, double predicted, Interval otherwise) {
  const auto distance = [](double from, double to) { return std::max(std::log(to / from), 0.0); };
  return {predicted * std::exp(-std::hypot(distance(interval.low, predicted),
                                           distance(otherwise.low, predicted))),
          predicted * std::exp(std::hypot(distance(predicted, interval.high),
                                          distance(predicted, otherwise.high)))};
}

Interval with_caches_kept(Interval interval, double predicted, double share) {
  return with_doubt(interval, predicted,
                    {predicted, predicted / (1 - std::clamp(share, 0.0, most_refilling))});
}

}  // namespace longpole::analysis
