#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/forecast.h"
#include "analysis/study.h"
#include "analysis/validation.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/computer_options.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/json_document.h"
#include "cli/progress_line.h"
#include "cli/recorded_run.h"
#include "cli/text_table.h"
#include "recording/check_program.h"
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
  std::string output;
  ComputerOptions computer;
  bool json = false;
  std::vector<std::string> command;
};

constexpr std::uint32_t most_runs = 10'000;
// What the tables of the papers call a good prediction; where not even that can be told, it is said.
constexpr double telling_error = 0.05;
// How much of the CPUs others may take before it is worth a word.
constexpr double telling_others = 0.02;
// How much more CPU time on many CPUs than on one is worth a word.
constexpr double telling_cpu_time = 0.03;

struct Row {
  std::uint32_t cpus = 1;
  std::optional<analysis::Real> real;  // none: the machine has not so many
  double predicted_ns = 0;
  double predicted_speedup = 1;
  double limit = 1;
  double amdahl = 1;

  // On one CPU the speed-up is 1 by definition.
  [[nodiscard]] std::optional<analysis::PredictionError> error() const {
    if (!real || cpus == 1)
      return std::nullopt;
    return analysis::error_of(*real, predicted_speedup);
  }
};

struct Validation {
  std::string program;
  std::uint32_t rounds = 0;
  std::size_t threads = 0;
  std::string scheduler;
  simulation::Model model = simulation::Model::direct;
  double serial_fraction = 1;
  std::string notices;
  std::vector<Row> rows;
};

// 1, 2, 4, … and all.
std::string usual_counts(std::size_t machine) {
  std::string list;
  for (std::size_t count = 1; count < machine; count *= 2)
    list += fmt::format("{},", count);
  return list + std::to_string(machine);
}

// The runs of each round, by number of CPUs. Every other round goes backwards, so that no number is
// always the first after a pause.
Expected<std::map<std::uint32_t, std::vector<RealRun>>> measure(
    const fs::path& program, const std::vector<std::string>& arguments,
    const std::vector<std::uint32_t>& machine, std::vector<std::uint32_t> counts,
    std::uint32_t rounds, int exit_status) {
  std::map<std::uint32_t, std::vector<RealRun>> runs;
  ProgressLine progress("running it as it is");
  for (std::uint32_t round = 0; round < rounds; ++round) {
    progress.set(fmt::format("running it as it is, round {} of {}", round + 1, rounds));
    for (const std::uint32_t count : counts) {
      const auto run =
          recording::run_measured(program, arguments, {machine.begin(), machine.begin() + count});
      if (!run)
        return tl::unexpected(run.error());
      if (run->exit_status != exit_status)
        return failure(fmt::format("cannot compare runs of {}", program.string()),
                       fmt::format("on {} it ended with exit status {}, and when it was recorded "
                                   "with {}",
                                   count_text(count, "CPU"), run->exit_status, exit_status),
                       "take a job that comes out the same each time, and does not read what it "
                       "is given on standard input");
      runs[count].push_back({run->elapsed, run->cpu_time, run->others});
    }
    std::reverse(counts.begin(), counts.end());
  }
  return runs;
}

Expected<Recording> record(const recording::Options& options, const std::string& output) {
  std::optional<ProgressLine> progress;
  progress.emplace("recording");
  recording::Observer observer;
  observer.output = [](recording::Stream stream, std::string_view text) {
    if (stream == recording::Stream::standard_error)
      fmt::print(stderr, "{}", text);
  };
  auto recording = run_recorded(options, recording::Output::piped, std::move(observer));
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

// All but the real runs.
Expected<Validation> predict(const Options& options, Recording recorded,
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
  const analysis::Forecaster forecaster(recording);
  const auto on_one = forecaster.on(with_one_cpu(computers->front()), *models);
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
  out.notices = notices_text(*recording);
  for (const analysis::Computer& computer : *computers) {
    const auto forecast = forecaster.on(computer, *models);
    if (!forecast)
      return tl::unexpected(forecast.error());
    if (forecast->deadlock)
      return tl::unexpected(
          deadlock_error(*recording, *forecast->deadlock, options.command.front()));
    Row row;
    row.cpus = computer.machine.cpus;
    row.predicted_ns = forecast->total_ns;
    row.predicted_speedup = forecast->total_ns > 0 ? on_one->total_ns / forecast->total_ns : 1;
    row.limit = rules.limit(row.cpus);
    row.amdahl = rules.amdahl(row.cpus);
    out.rows.push_back(row);
  }
  return out;
}

Json json_of(const Row& row) {
  const auto fraction_or_null = [](const auto& value) {
    return value ? fraction(*value) : Json(nullptr);
  };
  std::optional<double> low;
  std::optional<double> high;
  if (row.real && row.real->confidence) {
    low = row.real->confidence->low;
    high = row.real->confidence->high;
  }
  const auto error = row.error();
  std::optional<double> error_low;
  std::optional<double> error_high;
  if (error && error->confidence) {
    error_low = error->confidence->low;
    error_high = error->confidence->high;
  }
  const auto real = [&](double value) { return row.real ? fraction(value) : Json(nullptr); };
  const analysis::Real measured = row.real.value_or(analysis::Real{});
  return {{"cpus", row.cpus},
          {"real_ns", row.real ? number(measured.elapsed_ns) : Json(nullptr)},
          {"real_cpu_ns", row.real ? number(measured.cpu_time_ns) : Json(nullptr)},
          {"others_share", real(measured.others_share)},
          {"real_speedup", real(measured.speedup)},
          {"real_least", real(measured.range.low)},
          {"real_most", real(measured.range.high)},
          {"real_low", fraction_or_null(low)},
          {"real_high", fraction_or_null(high)},
          {"predicted_ns", number(row.predicted_ns)},
          {"predicted_speedup", fraction(row.predicted_speedup)},
          {"error", error ? fraction(error->error) : Json(nullptr)},
          {"error_low", fraction_or_null(error_low)},
          {"error_high", fraction_or_null(error_high)},
          {"limit_speedup", fraction(row.limit)},
          {"amdahl_speedup", fraction(row.amdahl)}};
}

std::string json_of(const Validation& validation) {
  Json rows = Json::array();
  for (const Row& row : validation.rows)
    rows.push_back(json_of(row));
  return json_text({{"program", validation.program},
                    {"runs", validation.rounds},
                    {"threads", validation.threads},
                    {"scheduler", validation.scheduler},
                    {"model", name_of(validation.model)},
                    {"serial_fraction", fraction(validation.serial_fraction)},
                    {"rows", std::move(rows)}});
}

std::string range_text(const analysis::Interval& range) {
  return fmt::format("{:.2f}–{:.2f}", range.low, range.high);
}

// What one has to know to trust the table, or not.
std::string caveats(const Validation& validation) {
  std::string out;
  std::vector<std::uint32_t> not_measured;
  std::vector<std::uint32_t> noisy;
  double on_one_cpu_time = 0;
  double others = 0;
  bool few = false;
  for (const Row& row : validation.rows) {
    if (!row.real) {
      not_measured.push_back(row.cpus);
      continue;
    }
    others = std::max(others, row.real->others_share);
    if (row.cpus == 1)
      on_one_cpu_time = row.real->cpu_time_ns;
    const auto error = row.error();
    few = few || (error && !error->confidence);
    if (error && error->confidence && error->confidence->low < telling_error &&
        error->confidence->high > telling_error)
      noisy.push_back(row.cpus);
    const double more = row.real->cpu_time_ns / on_one_cpu_time - 1;
    if (on_one_cpu_time > 0 && more > telling_cpu_time)
      out += fmt::format(
          "note: on {} CPUs it takes {} more CPU time than on one, for its data moves between the "
          "CPUs or its threads spin; a recording on one CPU cannot know of that\n",
          row.cpus, percent_text(more));
  }
  if (others > telling_others)
    out += fmt::format(
        "note: other programs took up to {} of the CPUs meanwhile; stop them for a fair "
        "comparison\n",
        percent_text(others));
  if (!not_measured.empty())
    out += fmt::format("note: this machine has fewer CPUs: {} predicted, not measured\n",
                       fmt::join(not_measured, ", "));
  if (few)
    out += fmt::format("note: how certain the errors are is known from {} --runs on\n",
                       analysis::fewest_for_confidence);
  if (!noisy.empty())
    out += fmt::format(
        "note: the runs differ too much to say whether the error on {} CPUs is below {:.0f}%; more "
        "--runs, or a quieter machine, would\n",
        fmt::join(noisy, ", "), telling_error * 100);
  return out;
}

std::string text_of(const Validation& validation) {
  TextTable table({{"CPUs"},
                   {"real time"},
                   {"real"},
                   {"least–most"},
                   {"predicted"},
                   {"error"},
                   {"95 in 100"},
                   {"min(P, threads)"},
                   {"Amdahl"}});
  for (const Row& row : validation.rows) {
    const auto error = row.error();
    const std::string none = "–";
    table.add(
        {count_text(row.cpus), row.real ? duration_text(row.real->elapsed_ns) : none,
         row.real ? fmt::format("{:.2f}", row.real->speedup) : none,
         row.real && row.cpus > 1 ? range_text(row.real->range) : none,
         fmt::format("{:.2f}", row.predicted_speedup), error ? percent_text(error->error) : none,
         error && error->confidence ? fmt::format("{:.1f}–{:.1f}%", error->confidence->low * 100,
                                                  error->confidence->high * 100)
                                    : none,
         fmt::format("{:.2f}", row.limit), fmt::format("{:.2f}", row.amdahl)});
  }
  return fmt::format(
      "{}: {}, {}, scheduler {}, model {}\n\n{}\nreal: speed-up, the median over the rounds; "
      "error: "
      "|real − predicted| / real, and where it lies\nin 95 of 100 cases. Amdahl: with {} of the "
      "work done while no other thread could run.\n{}{}",
      printable(validation.program), count_text(validation.rounds, "round"),
      count_text(validation.threads, "thread"), validation.scheduler, name_of(validation.model),
      table.text(terminal_width()), percent_text(validation.serial_fraction), caveats(validation),
      validation.notices);
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

  recording::Options recorded;
  recorded.program = options.command.front();
  recorded.arguments.assign(options.command.begin() + 1, options.command.end());
  auto recording = record(recorded, options.output);
  if (!recording)
    return tl::unexpected(recording.error());
  const int exit_status = *recording->run.exit_status;
  auto validation = predict(options, std::move(*recording), *cpus);
  if (!validation)
    return tl::unexpected(validation.error());

  std::vector<std::uint32_t> counts{1};
  for (const std::uint32_t count : *cpus) {
    if (count <= machine.size() && std::find(counts.begin(), counts.end(), count) == counts.end())
      counts.push_back(count);
  }
  const auto runs =
      measure(program->path, recorded.arguments, machine, counts, *rounds, exit_status);
  if (!runs)
    return tl::unexpected(runs.error());
  validation->rounds = *rounds;
  for (Row& row : validation->rows) {
    if (const auto found = runs->find(row.cpus); found != runs->end())
      row.real = analysis::real_speedup(runs->at(1), found->second, row.cpus);
  }
  if (const auto printed = print(options.json ? json_of(*validation) : text_of(*validation));
      !printed)
    return tl::unexpected(printed.error());
  if (options.json)
    fmt::print(stderr, "{}{}", caveats(*validation), validation->notices);
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
      ->add_option("--runs", options->runs,
                   "Rounds, each of one run on each number of CPUs; without it, 15. From 6 on the\n"
                   "error has an interval")
      ->type_name("N");
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
      "Examples:\n"
      "  longpole validate -- ./program its arguments\n"
      "  longpole validate --cpus 2 --runs 40 -- pigz -p 4 -k -c big-file");
  command->callback([options, &chosen] {
    options->command = chosen.program;
    chosen.run = [options] { return validate(*options); };
  });
}

}  // namespace longpole::cli
