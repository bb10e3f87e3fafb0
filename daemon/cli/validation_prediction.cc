#include "cli/validation_prediction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/confidence.h"
#include "analysis/study.h"
#include "cli/input.h"
#include "cli/progress_line.h"
#include "recording/lockstep_advice.h"
#include "simulation/simulate.h"

namespace longpole::cli {
namespace {

using analysis::Interval;
using analysis::RealRun;

double cpu_time(const Recording& recording) {
  Nanoseconds sum{};
  for (const Thread& thread : recording.threads) {
    for (const Event& event : thread.events)
      sum += event.cpu;
  }
  return static_cast<double>(sum.count());
}

// A change of the CPU time that tells how far the elapsed time follows one.
constexpr double telling_ratio = 1.25;

// 1: as far as the CPU time; 0: not at all, for it sleeps.
Expected<double> share_that_computes(const ValidationPrediction& prediction,
                                     const ValidationRow& row) {
  const auto slower = prediction.compensated(row, telling_ratio);
  if (!slower)
    return tl::unexpected(slower.error());
  return std::clamp(std::log(row.predicted_speedup / *slower) / std::log(telling_ratio), 0.0, 1.0);
}

// `compensated`: by the most and the least CPU time that may be usual. `of_rounds`: single ones, as factors of the
// usual one.
Interval with_real_runs(const ValidationRow& row, Interval compensated, Interval of_rounds) {
  const double predicted = row.predicted_speedup;
  return analysis::with_doubt(analysis::with_doubt(*row.interval, predicted, compensated),
                              predicted, {predicted * of_rounds.low, predicted * of_rounds.high});
}

// In lockstep a thread spins as long as on so many CPUs, so that is what to compare with. A thread that spins uses
// up what time it waits: more of it says no more than that it waited longer. So the CPU time of such programs is a
// reason for doubt, and no correction, and does not tell the machine's share of how runs differ.
Expected<void> hold_lockstep_against(ValidationRow& row, const ValidationPrediction& prediction) {
  const auto compensated =
      prediction.compensated(row, row.real->cpu_time_ns / row.simulated_cpu_ns);
  if (!compensated)
    return tl::unexpected(compensated.error());
  if (row.interval)
    row.interval = with_real_runs(
        row, {*compensated, *compensated},
        {row.real->range.low / row.real->speedup, row.real->range.high / row.real->speedup});
  return {};
}

}  // namespace

Expected<double> ValidationPrediction::compensated(const ValidationRow& row,
                                                   double cpu_time_ratio) const {
  const auto computer =
      std::find_if(computers.begin(), computers.end(),
                   [&](const analysis::Computer& one) { return one.machine.cpus == row.cpus; });
  const auto total =
      forecaster->compensated_total(*computer, models, row.predicted_ns, cpu_time_ratio);
  if (!total)
    return tl::unexpected(total.error());
  return *total > 0 ? row.predicted_speedup * row.predicted_ns / *total : row.predicted_speedup;
}

Expected<ValidationPrediction> predict(const ComputerOptions& options, const HostCosts& costs,
                                       Recording recorded, const std::string& program,
                                       const std::vector<std::uint32_t>& cpus) {
  const auto recording = std::make_shared<const Recording>(
      simulation::with_known_condition_counts(std::move(recorded)));
  const auto computers = read_computers(options, *recording, cpus, costs);
  if (!computers)
    return tl::unexpected(computers.error());
  const auto models = read_models(options, *recording);
  if (!models)
    return tl::unexpected(models.error());
  const ProgressLine progress("simulating");
  auto forecaster = std::make_unique<analysis::Forecaster>(recording);
  const auto on_one = forecaster->on(with_one_cpu(computers->front()), *models);
  if (!on_one)
    return tl::unexpected(on_one.error());
  const auto rules = analysis::RulesOfThumb::of(*recording);

  Validation out;
  out.program = program_name(*recording, program);
  out.threads = recording->threads.size();
  out.scheduler = scheduler_name(computers->front());
  out.model = on_one->model;
  out.serial_fraction = rules.serial_fraction();
  out.on_one_ns = on_one->total_ns;
  out.spinning_ns = on_one->spinning_ns;
  out.cpu_ns = cpu_time(*recording);
  const auto used = static_cast<double>(recording->run.cpu_time.count());
  out.unused_ns = std::max(used * (1 - analysis::recording_share(*recording)) - out.cpu_ns, 0.0);
  out.notices = notes_text(*recording);
  const auto confidence = analysis::Confidence::of(recording);
  for (const analysis::Computer& computer : *computers) {
    const auto forecast = forecaster->on(computer, *models);
    if (!forecast)
      return tl::unexpected(forecast.error());
    if (forecast->deadlock)
      return tl::unexpected(deadlock_error(*recording, *forecast->deadlock, program));
    ValidationRow row;
    row.cpus = computer.machine.cpus;
    row.predicted_ns = forecast->total_ns;
    row.predicted_speedup = forecast->total_ns > 0 ? on_one->total_ns / forecast->total_ns : 1;
    row.simulated_cpu_ns = out.cpu_ns * simulation::cpu_time_on(recording->run, row.cpus) +
                           forecast->spinning_ns + forecast->fetching_ns;
    if (out.cpu_ns > 0)
      row.cpu_time_ratio = row.simulated_cpu_ns / (out.cpu_ns + out.spinning_ns);
    if (confidence && row.cpus > 1) {
      const auto interval =
          confidence->of_speedup(computer, *models, on_one->total_ns, forecast->total_ns);
      if (!interval)
        return tl::unexpected(interval.error());
      row.interval = *interval;
    }
    row.limit = rules.limit(row.cpus);
    row.amdahl = rules.amdahl(row.cpus);
    out.rows.push_back(row);
  }
  return ValidationPrediction{std::move(out), std::move(forecaster), *computers, *models};
}

void take_lockstep(Validation& plain, const Validation& lockstep) {
  const bool calls_say =
      std::any_of(plain.lockstep_advice.begin(), plain.lockstep_advice.end(),
                  [](const std::string& code) { return code != recording::waiting_loops; });
  const double on_one =
      calls_say ? lockstep.on_one_ns : plain.on_one_ns - plain.spinning_ns + plain.unused_ns;
  for (ValidationRow& row : plain.rows) {
    const auto found =
        std::find_if(lockstep.rows.begin(), lockstep.rows.end(),
                     [&](const ValidationRow& other) { return other.cpus == row.cpus; });
    if (found == lockstep.rows.end())
      continue;
    row.plain_speedup = row.predicted_speedup;
    row.predicted_ns = found->predicted_ns;
    row.predicted_speedup = found->predicted_ns > 0 ? on_one / found->predicted_ns : 1;
    row.simulated_cpu_ns = found->simulated_cpu_ns;
    if (found->interval) {
      const double factor = row.predicted_speedup / found->predicted_speedup;
      row.interval =
          analysis::Interval{found->interval->low * factor, found->interval->high * factor};
    }
  }
}

Expected<void> hold_against(ValidationRow& row, const ValidationPrediction& prediction,
                            std::span<const RealRun> on_one, std::span<const RealRun> on_many) {
  row.real = analysis::real_speedup(on_one, on_many, row.cpus);
  if (row.plain_speedup)
    return hold_lockstep_against(row, prediction);
  const analysis::CpuTimeRatio ratio = analysis::cpu_time_ratio(on_one, on_many);
  const auto compensated = [&](double real_ratio) {
    return prediction.compensated(row, real_ratio / row.cpu_time_ratio);
  };
  const auto usual = compensated(ratio.median);
  if (!usual)
    return tl::unexpected(usual.error());
  row.compensated_speedup = *usual;
  if (!row.interval)
    return {};
  const auto slowest = compensated(ratio.interval.high);
  const auto fastest = compensated(ratio.interval.low);
  const auto computes = share_that_computes(prediction, row);
  if (!slowest || !fastest || !computes)
    return tl::unexpected(!slowest   ? slowest.error()
                          : !fastest ? fastest.error()
                                     : computes.error());
  row.interval = with_real_runs(row, {*slowest, *fastest},
                                analysis::spread_of_schedules(on_one, on_many, *computes));
  return {};
}

}  // namespace longpole::cli
