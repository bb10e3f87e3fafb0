#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/confidence.h"
#include "analysis/forecast.h"
#include "analysis/study.h"
#include "analysis/validation.h"
#include "calibration/host_costs.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/computer_options.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/progress_line.h"
#include "cli/recorded_run.h"
#include "cli/validation_table.h"
#include "recording/check_program.h"
#include "recording/lockstep_advice.h"
#include "recording/measured_run.h"
#include "simulation/simulate.h"
#include "storage/load.h"

namespace longpole::cli {
namespace {

namespace fs = std::filesystem;
using analysis::RealRun;

struct Options {
  std::string cpus;
  std::string runs = "15";
  std::string lockstep;
  std::string output;
  ComputerOptions computer;
  bool json = false;
  std::vector<std::string> command;
};

constexpr std::uint32_t most_runs = 10'000;
// 1, 2, 4, … and all.
std::string usual_counts(std::size_t machine) {
  std::string list;
  for (std::size_t count = 1; count < machine; count *= 2)
    list += fmt::format("{},", count);
  return list + std::to_string(machine);
}

tl::unexpected<Error> ends_differently(const fs::path& program, const std::string& where,
                                       int status, int recorded_status) {
  return failure(fmt::format("cannot compare runs of {}", program.string()),
                 fmt::format("on {} it ended with exit status {}, and when it was recorded with {}",
                             where, status, recorded_status),
                 "take a job that comes out the same each time, and does not read what it is given "
                 "on standard input");
}

struct Measured {
  std::vector<std::vector<RealRun>> on_one;  // of each round, each on another CPU
  std::vector<RealRun> in_long_slices;       // on the first of these CPUs
  // By number of CPUs; on one: on_average_cpu().
  std::map<std::uint32_t, std::vector<RealRun>> runs;
};

// How many CPUs a round tries by themselves; the next round begins with the next one.
constexpr std::size_t cpus_tried_alone = 2;

// The runs of each round. Every other round goes backwards, so that no number is always the first after a
// pause.
Expected<Measured> measure(const fs::path& program, const std::vector<std::string>& arguments,
                           const std::vector<std::uint32_t>& machine,
                           const std::vector<std::uint32_t>& counts, std::uint32_t rounds,
                           int exit_status) {
  struct Run {
    std::vector<std::uint32_t> cpus;
    Nanoseconds slice;
    RealRun* result;
  };
  // What the largest number of CPUs uses.
  const std::uint32_t used = *std::max_element(counts.begin(), counts.end());
  Measured measured;
  ProgressLine progress("running it as it is");
  for (std::uint32_t round = 0; round < rounds; ++round) {
    progress.set(fmt::format("running it as it is, round {} of {}", round + 1, rounds));
    std::vector<RealRun>& on_one =
        measured.on_one.emplace_back(std::min<std::size_t>(cpus_tried_alone, used));
    std::vector<Run> runs;
    for (std::size_t i = 0; i < on_one.size(); ++i)
      runs.push_back({{machine[(round + i) % used]}, {}, &on_one[i]});
    runs.push_back(
        {runs.front().cpus, recording::long_slice, &measured.in_long_slices.emplace_back()});
    for (const std::uint32_t count : counts)
      if (count > 1)
        runs.push_back(
            {{machine.begin(), machine.begin() + count}, {}, &measured.runs[count].emplace_back()});
    if (round % 2 == 1)
      std::reverse(runs.begin(), runs.end());
    for (const auto& [cpus, slice, result] : runs) {
      const auto run = recording::run_measured(program, arguments, cpus, slice);
      if (!run)
        return tl::unexpected(run.error());
      if (run->exit_status != exit_status)
        return ends_differently(program, count_text(cpus.size(), "CPU"), run->exit_status,
                                exit_status);
      *result = {run->elapsed, run->cpu_time, run->others};
    }
    measured.runs[1].push_back(analysis::on_average_cpu(on_one));
  }
  return measured;
}

Expected<Recording> record(const recording::Options& options, const std::string& output) {
  std::optional<ProgressLine> progress;
  progress.emplace("recording");
  recording::Observer observer;
  observer.output = [](recording::Stream, std::string_view text) {
    fmt::print(stderr, "{}", text);
  };
  auto recording = run_recorded(options, recording::Output::errors_piped, std::move(observer));
  if (recording)
    recording->run.costs =
        calibration::host_costs([&] { progress->set("measuring this machine, once"); });
  progress.reset();
  if (!recording)
    return recording;
  if (!recording->run.exit_status)
    return failure(fmt::format("cannot compare runs of {}", options.program),
                   "its recorded run was ended before its end");
  if (!output.empty()) {
    if (const auto saved = storage::save_recording(*recording, output); !saved)
      return tl::unexpected(saved.error());
  }
  return recording;
}

double cpu_time(const Recording& recording) {
  Nanoseconds sum{};
  for (const Thread& thread : recording.threads) {
    for (const Event& event : thread.events)
      sum += event.cpu;
  }
  return static_cast<double>(sum.count());
}

// All but the real runs.
struct Predicted {
  Validation validation;
  // What it was predicted with, for predictions of other CPU time.
  std::unique_ptr<analysis::Forecaster> forecaster;
  std::vector<analysis::Computer> computers;
  analysis::ModelChoice models;

  // Errors: those of the simulation.
  [[nodiscard]] Expected<double> compensated(const ValidationRow& row,
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
};

Expected<Predicted> predict(const Options& options, Recording recorded,
                            const std::vector<std::uint32_t>& cpus) {
  const auto recording = std::make_shared<const Recording>(
      simulation::with_known_condition_counts(std::move(recorded)));
  const auto computers = read_computers(options.computer, *recording, cpus);
  if (!computers)
    return tl::unexpected(computers.error());
  const auto models = read_models(options.computer, *recording);
  if (!models)
    return tl::unexpected(models.error());
  const ProgressLine progress("simulating");
  auto forecaster = std::make_unique<analysis::Forecaster>(recording);
  const auto on_one = forecaster->on(with_one_cpu(computers->front()), *models);
  if (!on_one)
    return tl::unexpected(on_one.error());
  const analysis::RulesOfThumb rules(
      simulation::concurrency(simulation::simulate_ideal(*recording)), recording->threads.size());

  Validation out;
  out.program = program_name(*recording, options.command.front());
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
      return tl::unexpected(
          deadlock_error(*recording, *forecast->deadlock, options.command.front()));
    ValidationRow row;
    row.cpus = computer.machine.cpus;
    row.predicted_ns = forecast->total_ns;
    row.predicted_speedup = forecast->total_ns > 0 ? on_one->total_ns / forecast->total_ns : 1;
    row.simulated_cpu_ns = out.cpu_ns + forecast->spinning_ns;
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
  return Predicted{std::move(out), std::move(forecaster), *computers, *models};
}

using PredictedInLockstep = std::map<std::uint32_t, Predicted>;  // by number of CPUs

// The time on so many CPUs from a recording in lockstep for them. That on one likewise, where the calls say how
// the program spins or takes work; where they do not, from the one made there, which on one CPU also spun, in ways
// that no simulation knows of.
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

// What each of them says, once.
std::string notices_of(const PredictedInLockstep& predictions) {
  std::string out;
  for (const auto& [count, predicted] : predictions) {
    std::string_view rest = predicted.validation.notices;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
      if (out.find(line) == std::string::npos)
        out += line;
      rest.remove_prefix(line.size());
    }
  }
  return out;
}

// Which numbers of CPUs to predict from recordings in lockstep, one for each.
struct LockstepChoice {
  std::vector<std::uint32_t> cpus;
  bool if_advised = false;  // by the recording on one CPU; else whatever that shows
};

Expected<LockstepChoice> choose_lockstep(const std::string& option,
                                         const std::vector<std::uint32_t>& cpus) {
  const auto possible = [](std::uint32_t count) {
    return count >= 2 && count <= recording::max_lockstep_cpus;
  };
  LockstepChoice choice;
  if (option == "none")
    return choice;
  if (option.empty()) {
    choice.if_advised = true;
    std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(choice.cpus), possible);
    return choice;
  }
  auto named = parse_cpu_list(option, "--lockstep");
  if (!named)
    return tl::unexpected(named.error());
  for (const std::uint32_t count : *named) {
    const std::string what = fmt::format("--lockstep {}", count);
    if (!possible(count))
      return bad_input(what,
                       fmt::format("in lockstep are 2 to {} CPUs", recording::max_lockstep_cpus),
                       "name others, or none");
    if (std::find(cpus.begin(), cpus.end(), count) == cpus.end())
      return bad_input(what, "that is none of the numbers of CPUs", "name it in --cpus, too");
  }
  choice.cpus = std::move(*named);
  return choice;
}

std::vector<std::string> advice_of(const std::vector<Notice>& notices) {
  std::vector<std::string> codes;
  for (const Notice& notice : notices)
    if (recording::advises_lockstep(notice))
      codes.push_back(notice.code);
  return codes;
}

Expected<PredictedInLockstep> predict_in_lockstep(const Options& options,
                                                  const LockstepChoice& choice,
                                                  recording::Options recorded) {
  PredictedInLockstep out;
  for (const std::uint32_t count : choice.cpus) {
    if (out.contains(count))
      continue;
    recorded.lockstep = count;
    auto predicted = record(recorded, "").and_then([&](Recording&& made) {
      return predict(options, std::move(made), {count});
    });
    if (!predicted) {
      Error error = std::move(predicted.error());
      if (choice.if_advised)
        error.remedy += fmt::format("{}--lockstep none goes without recordings in lockstep",
                                    error.remedy.empty() ? "" : "; ");
      return tl::unexpected(std::move(error));
    }
    out.emplace(count, std::move(*predicted));
  }
  return out;
}

Expected<int> validate(const Options& options) {
  if (options.command.empty() || options.command.front().empty())
    return bad_input("cannot validate", "no program is named",
                     "name one behind the options: longpole validate -- ./program its arguments");
  const std::vector<std::uint32_t> machine = recording::usable_cpus_cores_first();
  const auto cpus =
      parse_cpu_list(options.cpus.empty() ? usual_counts(machine.size()) : options.cpus);
  if (!cpus)
    return tl::unexpected(cpus.error());
  const auto rounds = parse_number("--runs", options.runs, 1, most_runs);
  if (!rounds)
    return tl::unexpected(rounds.error());
  if (const auto sound = check_names(options.computer); !sound)
    return tl::unexpected(sound.error());
  const char* const path = std::getenv("PATH");
  const auto program = recording::check_program(options.command.front(), fs::current_path(),
                                                path == nullptr ? "" : path);
  if (!program)
    return tl::unexpected(program.error());

  if (!options.output.empty()) {
    if (const auto writable = check_output(options.output); !writable)
      return tl::unexpected(writable.error());
  }

  const auto lockstep = choose_lockstep(options.lockstep, *cpus);
  if (!lockstep)
    return tl::unexpected(lockstep.error());
  recording::Options recorded;
  recorded.program = options.command.front();
  recorded.arguments.assign(options.command.begin() + 1, options.command.end());
  // What the first run reads from the disk, its own code above all, the others find in memory.
  const auto first = recording::run_measured(program->path, recorded.arguments,
                                             {machine.begin(), machine.begin() + 1});
  if (!first)
    return tl::unexpected(first.error());
  auto recording = record(recorded, options.output);
  if (!recording)
    return tl::unexpected(recording.error());
  const int exit_status = *recording->run.exit_status;
  if (first->exit_status != exit_status)
    return ends_differently(program->path, "1 CPU", first->exit_status, exit_status);
  const std::vector<std::string> advice = advice_of(recording->notices);
  auto plain = predict(options, std::move(*recording), *cpus);
  if (!plain)
    return tl::unexpected(plain.error());
  Validation& validation = plain->validation;
  validation.lockstep_advice = advice;
  validation.lockstep_as_advised = lockstep->if_advised;
  PredictedInLockstep in_lockstep;
  if (!lockstep->cpus.empty() && (!lockstep->if_advised || !advice.empty())) {
    // It must be told what the real runs find, not N.
    recorded.as_cpus = static_cast<std::uint32_t>(machine.size());
    auto predicted = predict_in_lockstep(options, *lockstep, recorded);
    if (!predicted)
      return tl::unexpected(predicted.error());
    in_lockstep = std::move(*predicted);
    for (const auto& [count, other] : in_lockstep)
      take_lockstep(validation, other.validation);
    validation.notices = notices_of(in_lockstep);
  }

  std::vector<std::uint32_t> counts{1};
  for (const std::uint32_t count : *cpus) {
    if (count <= machine.size() && std::find(counts.begin(), counts.end(), count) == counts.end())
      counts.push_back(count);
  }
  const auto measured =
      measure(program->path, recorded.arguments, machine, counts, *rounds, exit_status);
  if (!measured)
    return tl::unexpected(measured.error());
  validation.rounds = *rounds;
  const std::vector<RealRun>& on_one = measured->runs.at(1);
  std::vector<RealRun> on_same_cpu;
  for (const std::vector<RealRun>& round : measured->on_one)
    on_same_cpu.push_back(round.front());
  validation.refilling_share = 1 - analysis::cpu_time_ratio(on_same_cpu, measured->in_long_slices);
  validation.unevenness = analysis::unevenness(measured->on_one);
  for (ValidationRow& row : validation.rows) {
    const auto found = measured->runs.find(row.cpus);
    if (found == measured->runs.end()) {
      if (row.interval)
        row.interval = analysis::with_caches_kept(*row.interval, validation.refilling_share);
      continue;
    }
    row.real = analysis::real_speedup(on_one, found->second, row.cpus);
    if (row.cpus == 1)
      continue;
    // In lockstep a thread spins as long as on so many CPUs, so that is what to compare with.
    const double ratio = row.plain_speedup
                             ? row.real->cpu_time_ns / row.simulated_cpu_ns
                             : analysis::cpu_time_ratio(on_one, found->second) / row.cpu_time_ratio;
    const auto compensated =
        (row.plain_speedup ? in_lockstep.at(row.cpus) : *plain).compensated(row, ratio);
    if (!compensated)
      return tl::unexpected(compensated.error());
    // A thread that spins uses up what time it waits: more of it says no more than that it waited longer. So the
    // CPU time of such programs is a reason for doubt, and no correction.
    if (!row.plain_speedup)
      row.compensated_speedup = *compensated;
    if (row.interval)
      row.interval = analysis::with_spread_of_runs(
          analysis::with_cpu_times(*row.interval, row.predicted_speedup, *compensated), *row.real);
  }
  if (const auto printed =
          print(options.json ? validation_json(validation) : validation_text(validation));
      !printed)
    return tl::unexpected(printed.error());
  if (options.json)
    fmt::print(stderr, "{}{}", validation_caveats(validation), validation.notices);
  return 0;
}

}  // namespace

void add_validate(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand(
      "validate", "Record a program, run it for real as well, and compare with the predictions");
  const auto options = std::make_shared<Options>();
  command
      ->add_option(
          "--cpus", options->cpus,
          "Numbers of CPUs, as in 1,2,4 or 1-8; without it, 1, 2, 4 … up to the machine's.\n"
          "More than it has are predicted and not measured")
      ->type_name("LIST");
  command
      ->add_option(
          "--runs", options->runs,
          "Rounds, each of one run on each number of CPUs, and on one CPU a run on each of\n"
          "two, which stand for their average; without it, 15. From 6 on the error has an\n"
          "interval")
      ->type_name("N");
  command
      ->add_option(
          "--lockstep", options->lockstep,
          "Predict for these of the numbers of CPUs from a recording in lockstep each, for\n"
          "programs whose threads spin or take work from each other; none: for none. Without\n"
          "it, for all, where the recording on one CPU shows that they do")
      ->type_name("LIST");
  command->add_option("-o,--output", options->output, "Keep the recording in FILE")
      ->type_name("FILE");
  add_computer_options(*command, options->computer);
  command->add_flag("--json", options->json, "Print one JSON document");
  // For the help text: main() takes the program out before the options are parsed.
  command->add_option("PROGRAM", options->command, "The program and its arguments")
      ->type_name("[ARGS...]");
  command->footer(
      "The program gets nothing to read and its output is thrown away. It must do the same work\n"
      "each time, whatever the number of CPUs: where it starts as many threads as it finds CPUs,\n"
      "name the number of threads on its own command line.\n\n"
      "from–to: the prediction if waits, switches and wake-ups took anything from nothing to twice "
      "what "
      "was\n"
      "measured, CPUs that fall idle had learnt to look for a thread never or each time, "
      "recording\n"
      "up to twice as much, waits for nobody known nothing, computing more or less by as much as "
      "the\n"
      "CPU time of the real runs differs, and the recorded run were as far from the usual one as "
      "any\n"
      "of the real ones.\n"
      "compensated: the prediction if computing took as much more or less CPU time on so many CPUs "
      "as\n"
      "in the real runs. What is left of the error then is that of the schedule; the rest is that "
      "of\n"
      "caches, memory and spinning. As it knows real runs on so many CPUs, it is no prediction. "
      "None\n"
      "in lockstep: threads that spin use up what time they wait, so their CPU time corrects "
      "nothing.\n\n"
      "Examples:\n"
      "  longpole validate -- ./program its arguments\n"
      "  longpole validate --cpus 2 --runs 40 -- pigz -p 4 -k -c big-file");
  command->callback([options, &chosen] {
    options->command = chosen.program;
    chosen.run = [options] { return validate(*options); };
  });
}

}  // namespace longpole::cli
