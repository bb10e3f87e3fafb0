#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/confidence.h"
#include "analysis/cpu_time_on.h"
#include "analysis/validation.h"
#include "calibration/host_costs.h"
#include "calibration/measure.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/computer_options.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/progress_line.h"
#include "cli/real_runs.h"
#include "cli/recorded_run.h"
#include "cli/validation_prediction.h"
#include "cli/validation_table.h"
#include "recording/check_program.h"
#include "recording/lockstep_advice.h"
#include "recording/measured_run.h"
#include "storage/load.h"
#include "trace/host_costs.h"

namespace longpole::cli {
namespace {

using analysis::RealRun;

constexpr std::uint32_t times_as_many_rounds = 4;  // with --within
constexpr std::uint32_t most_percent_within = 50;

struct ValidateOptions {
  std::string cpus;
  std::string runs = "15";
  std::string within;
  std::string lockstep;
  std::string output;
  ComputerOptions computer;
  bool json = false;
  std::vector<std::string> command;
};

// 1, 2, 4, … and all.
std::string usual_counts(std::size_t machine) {
  std::string list;
  for (std::size_t count = 1; count < machine; count *= 2)
    list += fmt::format("{},", count);
  return list + std::to_string(machine);
}

// What this machine takes for waits and wake-ups is another thing from hour to hour, so that of now.
calibration::Calibration measure_costs() {
  const ProgressLine progress("measuring this machine");
  return calibration::costs_of_now();
}

Expected<Recording> record(const recording::Options& options,
                           const calibration::Calibration& calibration, const std::string& output) {
  std::optional<ProgressLine> progress(std::in_place, "recording");
  recording::Observer observer;
  observer.output = [](recording::Stream, std::string_view text) {
    fmt::print(stderr, "{}", text);
  };
  auto recording = run_recorded(options, recording::Output::errors_piped, std::move(observer));
  progress.reset();
  if (!recording)
    return recording;
  calibration::put_into(*recording, calibration);
  if (!recording->run.exit_status)
    return failure(fmt::format("cannot compare runs of {}", options.program),
                   "its recorded run was ended before its end");
  if (!output.empty()) {
    if (const auto saved = storage::save_recording(*recording, output); !saved)
      return tl::unexpected(saved.error());
  }
  return recording;
}

using PredictedInLockstep = std::map<std::uint32_t, ValidationPrediction>;  // by number of CPUs

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

// What failed, and that it need not have been tried.
Error without_lockstep(Error error, const LockstepChoice& choice) {
  if (choice.if_advised)
    error.remedy += fmt::format("{}--lockstep none goes without recordings in lockstep",
                                error.remedy.empty() ? "" : "; ");
  return error;
}

std::vector<std::string> advice_of(const std::vector<Notice>& notices) {
  std::vector<std::string> codes;
  for (const Notice& notice : notices)
    if (recording::advises_lockstep(notice))
      codes.push_back(notice.code);
  return codes;
}

using RecordedInLockstep = std::map<std::uint32_t, Recording>;  // by number of CPUs

Expected<RecordedInLockstep> record_in_lockstep(const LockstepChoice& choice,
                                                recording::Options recorded,
                                                const calibration::Calibration& calibration) {
  RecordedInLockstep out;
  for (const std::uint32_t count : choice.cpus) {
    if (out.contains(count))
      continue;
    recorded.lockstep = count;
    auto recording = record(recorded, calibration, "");
    if (!recording)
      return tl::unexpected(without_lockstep(std::move(recording.error()), choice));
    out.emplace(count, std::move(*recording));
  }
  return out;
}

Expected<PredictedInLockstep> predict_in_lockstep(const ValidateOptions& options,
                                                  const LockstepChoice& choice,
                                                  const HostCosts& costs,
                                                  RecordedInLockstep recorded) {
  PredictedInLockstep out;
  for (auto& one : recorded) {
    auto predicted = predict(options.computer, costs, std::move(one.second),
                             options.command.front(), {one.first});
    if (!predicted)
      return tl::unexpected(without_lockstep(std::move(predicted.error()), choice));
    out.emplace(one.first, std::move(*predicted));
  }
  return out;
}

// Predicts again what the recording says now of CPU times on several CPUs, and keeps it with that.
Expected<void> take_cpu_times(ValidationPrediction& plain, const ValidateOptions& options,
                              const HostCosts& costs, const Recording& recording,
                              const std::vector<std::uint32_t>& cpus) {
  if (recording.run.cpu_time_on.empty()) {
    plain.validation.notices = notes_text(recording);
    return {};
  }
  auto predicted = predict(options.computer, costs, recording, options.command.front(), cpus);
  if (!predicted)
    return tl::unexpected(predicted.error());
  for (std::size_t i = 0; i < predicted->validation.rows.size(); ++i)
    if (ValidationRow& row = predicted->validation.rows[i]; row.cpus > 1)
      row.uncorrected_speedup = plain.validation.rows[i].predicted_speedup;
  plain = std::move(*predicted);
  if (options.output.empty())
    return {};
  return storage::save_recording(recording, options.output);
}

Expected<Rounds> read_rounds(const ValidateOptions& options) {
  const auto fewest = parse_number("--runs", options.runs, 1, most_rounds);
  if (!fewest)
    return tl::unexpected(fewest.error());
  if (options.within.empty())
    return Rounds{*fewest, *fewest};
  const auto percent = parse_number("--within", options.within, 1, most_percent_within);
  if (!percent)
    return tl::unexpected(percent.error());
  return Rounds{*fewest, *fewest * times_as_many_rounds, *percent / 100.0};
}

Expected<int> validate(const ValidateOptions& options) {
  if (options.command.empty() || options.command.front().empty())
    return bad_input("cannot validate", "no program is named",
                     "name one behind the options: longpole validate -- ./program its arguments");
  const std::vector<std::uint32_t> machine = recording::usable_cpus_cores_first();
  const auto cpus =
      parse_cpu_list(options.cpus.empty() ? usual_counts(machine.size()) : options.cpus);
  if (!cpus)
    return tl::unexpected(cpus.error());
  const auto rounds = read_rounds(options);
  if (!rounds)
    return tl::unexpected(rounds.error());
  if (const auto sound = check_names(options.computer); !sound)
    return tl::unexpected(sound.error());
  const auto program =
      recording::check_program(options.command.front(), {}, recording::own_search_path());
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
  const calibration::Calibration calibration = measure_costs();
  auto recording = record(recorded, calibration, options.output);
  if (!recording)
    return tl::unexpected(recording.error());
  const int exit_status = *recording->run.exit_status;
  if (first->exit_status != exit_status)
    return ends_differently(program->path, "1 CPU", first->exit_status, exit_status);
  const std::vector<std::string> advice = advice_of(recording->notices);
  const auto computers = read_computers(options.computer, *recording, *cpus);
  if (!computers)
    return tl::unexpected(computers.error());
  if (const auto models = read_models(options.computer, *recording); !models)
    return tl::unexpected(models.error());
  RecordedInLockstep recorded_in_lockstep;
  if (!lockstep->cpus.empty() && (!lockstep->if_advised || !advice.empty())) {
    // It must be told what the real runs find, not N.
    recorded.as_cpus = static_cast<std::uint32_t>(machine.size());
    auto made = record_in_lockstep(*lockstep, recorded, calibration);
    if (!made)
      return tl::unexpected(made.error());
    recorded_in_lockstep = std::move(*made);
  }

  const std::set<std::uint32_t> predicted_counts(cpus->begin(), cpus->end());
  std::vector<std::uint32_t> counts{1};
  std::copy_if(predicted_counts.begin(), predicted_counts.end(), std::back_inserter(counts),
               [&](std::uint32_t count) { return count > 1 && count <= machine.size(); });
  // In lockstep threads take turns in their own way, and such as spin are not to be run in others; and where no CPUs are
  // simulated, none has a speed.
  const bool corrects = recorded_in_lockstep.empty() &&
                        std::ranges::none_of(recording->notices, recording::says_that_it_spins) &&
                        computers->front().kind == analysis::Computer::Kind::machine;
  const std::uint32_t threads = analysis::RulesOfThumb::of(*recording).threads_at_once();
  std::optional<ProgressLine> progress(std::in_place, "running it as it is");
  std::optional<std::vector<std::uint32_t>> in_turns_as_on;
  if (corrects)
    in_turns_as_on = analysis::cpu_counts_to_try(*predicted_counts.rbegin(), threads);
  std::vector<HostCosts> costs_of_rounds;
  const auto measured = run_for_real(
      program->path, recorded.arguments, machine, counts, in_turns_as_on, *rounds, exit_status,
      [&](std::string doing) {
        progress->set(std::move(doing));
        costs_of_rounds.push_back(
            (costs_of_rounds.empty() ? calibration : calibration::costs_of_now()).costs);
      });
  progress.reset();
  if (!measured)
    return tl::unexpected(measured.error());
  const HostCosts costs = completed(calibration::middle_of(costs_of_rounds), recording->run.costs);
  auto plain = predict(options.computer, costs, *recording, options.command.front(), *cpus);
  if (!plain)
    return tl::unexpected(plain.error());
  auto in_lockstep =
      predict_in_lockstep(options, *lockstep, costs, std::move(recorded_in_lockstep));
  if (!in_lockstep)
    return tl::unexpected(in_lockstep.error());
  const analysis::TurnRuns& turns = measured->in_turns;
  if (corrects) {
    if (measured->no_copies)
      recording->notices.push_back(*measured->no_copies);
    recording->run.cpu_time_on = analysis::cpu_time_on(turns, measured->by_cpus.at(1), threads);
    if (const auto taken = take_cpu_times(*plain, options, costs, *recording, *cpus); !taken)
      return tl::unexpected(taken.error());
  }
  Validation& validation = plain->validation;
  validation.lockstep_advice = advice;
  validation.lockstep_as_advised = lockstep->if_advised;
  for (const auto& [count, other] : *in_lockstep)
    take_lockstep(validation, other.validation);
  if (!in_lockstep->empty())
    validation.notices = notices_of(*in_lockstep);
  validation.rounds = static_cast<std::uint32_t>(measured->on_one.size());
  if (corrects)
    validation.refilling_share =
        1 - analysis::cpu_time_ratio(turns.usual, turns.in_long_slices).median;
  validation.kept_on_cpus = measured->kept_on_cpus;
  validation.unevenness = analysis::unevenness(measured->on_one);
  std::vector<RealRun> all;
  for (const std::vector<RealRun>& round : measured->on_one)
    all.insert(all.end(), round.begin(), round.end());
  for (const auto& [count, runs] : measured->by_cpus)
    if (count > 1)
      all.insert(all.end(), runs.begin(), runs.end());
  validation.that_read = analysis::runs_that_read(all);
  const std::vector<RealRun>& on_one = measured->by_cpus.at(1);
  for (ValidationRow& row : validation.rows) {
    const auto found = measured->by_cpus.find(row.cpus);
    if (found == measured->by_cpus.end()) {
      if (row.interval && validation.refilling_share && !row.uncorrected_speedup)
        row.interval = analysis::with_caches_kept(*row.interval, row.predicted_speedup,
                                                  *validation.refilling_share);
    } else if (row.cpus == 1) {
      row.real = analysis::real_speedup(on_one, on_one, 1);
    } else if (const auto held =
                   hold_against(row, row.plain_speedup ? in_lockstep->at(row.cpus) : *plain, on_one,
                                found->second);
               !held) {
      return tl::unexpected(held.error());
    }
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
  const auto options = std::make_shared<ValidateOptions>();
  command
      ->add_option(
          "--cpus", options->cpus,
          "Numbers of CPUs, as in 1,2,4 or 1-8; without it, 1, 2, 4 … up to the machine's.\n"
          "More than it has are predicted and not measured")
      ->type_name("LIST");
  command
      ->add_option(
          "--runs", options->runs,
          "Rounds, each of two runs on each number of CPUs, which stand for their average: on\n"
          "one CPU one on each of two, on several one started from each of two; without it,\n"
          "15. From 6 on the error has an interval")
      ->type_name("N");
  command
      ->add_option(
          "--within", options->within,
          "More rounds, up to four times as many, until the real speed-ups, and what CPU time\n"
          "the program takes beside copies, are known to PERCENT, in 95 of 100 cases: for\n"
          "machines and programs whose runs differ much")
      ->type_name("PERCENT");
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
      "Each round also runs it on one CPU in other turns, and beside copies of itself on the\n"
      "other CPUs, as `longpole record --turns` does, and numbers of CPUs are predicted with the\n"
      "CPU time that this says it takes there; not where threads spin. What waits, switches and\n"
      "wake-ups take is measured before each round, and the middle of it counts, for a "
      "machine\n"
      "changes from minute to minute, unless --costs names others.\n"
      "from–to: the prediction if waits, switches and wake-ups took anything from nothing to "
      "twice\n"
      "what was measured, CPUs that fall idle had learnt to look for a thread never or each time,\n"
      "recording a third less or more, waits for nobody known nothing, computing more or less by "
      "as\n"
      "much as the CPU time of the real runs differs, and the recorded run were as far from the\n"
      "usual one as any of the real ones would be if they took the same CPU time. What these\n"
      "change adds up as independent uncertainties do.\n"
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
      "  longpole validate --cpus 2 --runs 12 --within 2 -- pigz -p 4 -k -c big-file");
  command->callback([options, &chosen] {
    options->command = chosen.program;
    chosen.run = [options] { return validate(*options); };
  });
}

}  // namespace longpole::cli
