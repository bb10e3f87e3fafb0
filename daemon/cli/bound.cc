#include "allocation/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocation/bound_parameters.h"
#include "allocation/search.h"
#include "cli/arguments.h"
#include "cli/bound_report.h"
#include "cli/command.h"
#include "cli/computer_options.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/json_document.h"
#include "cli/progress_line.h"
#include "simulation/simulate.h"
#include "storage/load.h"

namespace longpole::cli {
namespace {

using allocation::Algorithm;
using allocation::BoundFinder;
using allocation::Rational;

struct BoundOptions {
  std::string file;
  std::string vector;
  std::string granularity;
  std::string cpus = "1,2,4,8,16";
  std::string latency = "0";
  std::string bindings;
  std::string chart;
  bool json = false;
};

// What is bounded: of a recording, or as it was written.
struct Program {
  BoundReport report;
  std::optional<Recording> recording;
};

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = list.find(',');
    parts.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos)
      return parts;
    list.remove_prefix(comma + 1);
  }
}

// "3", "0.25", "1/3": without sign or exponent, as it is written.
std::optional<Rational> parse_rational(std::string_view text) {
  constexpr std::size_t most_digits = 40;
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto numerator = parse_rational(text.substr(0, slash));
    const auto denominator = text.find('/', slash + 1) == std::string_view::npos
                                 ? parse_rational(text.substr(slash + 1))
                                 : std::nullopt;
    if (!numerator || !denominator || *denominator == 0)
      return std::nullopt;
    return *numerator / *denominator;
  }
  Rational value = 0;
  Rational unit = 1;
  bool is_fraction = false;
  bool has_digits = false;
  if (text.size() > most_digits)
    return std::nullopt;
  for (const char letter : text) {
    if (letter == '.' && !is_fraction) {
      is_fraction = true;
    } else if (letter >= '0' && letter <= '9') {
      value = value * 10 + (letter - '0');
      unit *= is_fraction ? 10 : 1;
      has_digits = true;
    } else {
      return std::nullopt;
    }
  }
  if (!has_digits)
    return std::nullopt;
  return Rational(value / unit);
}

Expected<Rational> read_rational(const std::string& option, std::string_view text) {
  if (auto value = parse_rational(text))
    return *std::move(value);
  return bad_input(fmt::format("{} {}", option, text), "that is no number",
                   "give one like 3, 0.25 or 1/3");
}

Expected<Program> read_written(const BoundOptions& options) {
  allocation::BoundParameters parameters;
  for (const std::string_view part : parts_of(options.vector)) {
    auto value = read_rational("--vector", part);
    if (!value)
      return tl::unexpected(value.error());
    parameters.profile.push_back(*std::move(value));
  }
  const auto granularity = read_rational("--granularity", options.granularity);
  if (!granularity)
    return tl::unexpected(granularity.error());
  parameters.granularity = *granularity / 1'000'000;  // a millisecond's, in nanoseconds
  auto finder = BoundFinder::of(std::move(parameters));
  if (!finder)
    return tl::unexpected(finder.error());
  return Program{{{}, *std::move(finder), {}, {}, {}}, {}};
}

Expected<Program> read_recorded(const BoundOptions& options) {
  auto recording = open_recording(options.file);
  if (!recording)
    return tl::unexpected(recording.error());
  const ProgressLine progress("simulating");
  const simulation::Schedule ideal = simulation::simulate_ideal(*recording);
  if (ideal.deadlock)
    return tl::unexpected(deadlock_error(*recording, *ideal.deadlock, options.file));
  auto program = allocation::bound_parameters(*recording, ideal);
  if (!program)
    return tl::unexpected(program.error());
  auto finder = BoundFinder::of(program->parameters);
  if (!finder)
    return tl::unexpected(finder.error());
  return Program{
      {program_name(*recording, options.file), *std::move(finder), *std::move(program), {}, {}},
      *std::move(recording)};
}

Expected<Program> read_program(const BoundOptions& options) {
  if (options.file.empty() == options.vector.empty())
    return bad_input("cannot compute a bound", "it takes a FILE or --vector, one of them",
                     "see `longpole bound --help`");
  if (options.vector.empty() != options.granularity.empty())
    return bad_input("cannot compute a bound", "--vector and --granularity go together",
                     "see `longpole bound --help`");
  return options.file.empty() ? read_written(options) : read_recorded(options);
}

Expected<std::vector<Nanoseconds>> parse_latencies(const std::string& text) {
  std::vector<Nanoseconds> latencies;
  for (const std::string_view part : parts_of(text)) {
    const auto latency = parse_duration("--latency", std::string(part));
    if (!latency)
      return tl::unexpected(latency.error());
    latencies.push_back(*latency);
  }
  return latencies;
}

// Those that nothing is searched for.
Expected<std::vector<Algorithm>> parse_bindings(const std::string& text) {
  std::vector<Algorithm> bindings;
  if (text.empty())
    return bindings;
  for (const std::string_view part : parts_of(text)) {
    const auto algorithm = allocation::algorithm_named(part);
    if (!algorithm || (*algorithm != Algorithm::block && *algorithm != Algorithm::round_robin &&
                       *algorithm != Algorithm::binpack))
      return bad_input("--bindings " + text,
                       fmt::format("\"{}\" is no binding that can be had without a search", part),
                       "give some of block, round-robin and binpack; `longpole allocate` searches");
    bindings.push_back(*algorithm);
  }
  return bindings;
}

// On a computer as the bound knows them: signals take the latency, and nothing else costs anything.
Expected<std::vector<std::optional<double>>> simulate_bindings(
    const Recording& recording, const std::vector<Algorithm>& bindings, std::uint32_t cpus,
    Nanoseconds latency) {
  simulation::Machine machine;
  machine.cpus = cpus;
  machine.latency = latency;
  machine.wake_up = Nanoseconds{};
  machine.deep_sleep = Nanoseconds{};
  machine.interrupt = Nanoseconds{};
  machine.interruption = Nanoseconds{};
  machine.migration_cost = Nanoseconds{};
  machine.block_cost = Nanoseconds{};
  machine.release_cost = Nanoseconds{};
  machine.release_afar_cost = Nanoseconds{};
  machine.lock_afar_cost = Nanoseconds{};
  allocation::TestBench bench(recording, machine, 1);
  std::vector<std::optional<double>> totals;
  for (const Algorithm binding : bindings) {
    const auto result = allocation::search(bench, binding, {});
    if (!result)
      return tl::unexpected(result.error());
    totals.push_back(result->trial.deadlocks
                         ? std::nullopt
                         : std::optional(static_cast<double>(result->trial.total.count())));
  }
  return totals;
}

Expected<void> fill_rows(Program& program, const std::vector<std::uint32_t>& cpus,
                         const std::vector<Nanoseconds>& latencies) {
  ProgressLine progress("searching");
  BoundReport& report = program.report;
  for (const std::uint32_t count : cpus) {
    for (const Nanoseconds latency : latencies) {
      progress.set(fmt::format("bounding on {}", count_text(count, "CPU")));
      BoundReport::Row row{count, latency, report.finder.find(count, latency), {}};
      if (!report.bindings.empty()) {
        auto totals = simulate_bindings(*program.recording, report.bindings, count, latency);
        if (!totals)
          return tl::unexpected(totals.error());
        row.totals_ns = *std::move(totals);
      }
      report.rows.push_back(std::move(row));
    }
  }
  return {};
}

Expected<int> bound(const BoundOptions& options) {
  const auto cpus = parse_cpu_list(options.cpus);
  if (!cpus)
    return tl::unexpected(cpus.error());
  const auto latencies = parse_latencies(options.latency);
  if (!latencies)
    return tl::unexpected(latencies.error());
  const auto bindings = parse_bindings(options.bindings);
  if (!bindings)
    return tl::unexpected(bindings.error());
  if (!bindings->empty()) {
    if (options.file.empty())
      return bad_input("--bindings " + options.bindings,
                       "bindings are simulated, which takes a recording", "give a FILE");
    const auto most = *std::max_element(cpus->begin(), cpus->end());
    if (most > simulation::most_cpus)
      return bad_input(
          fmt::format("--cpus {}", most),
          fmt::format("bindings are simulated on up to {} CPUs", simulation::most_cpus),
          "choose fewer, or leave --bindings out");
  }
  auto program = read_program(options);
  if (!program)
    return tl::unexpected(program.error());
  program->report.bindings = *bindings;
  if (const auto filled = fill_rows(*program, *cpus, *latencies); !filled)
    return tl::unexpected(filled.error());
  const BoundReport& report = program->report;
  if (!options.chart.empty()) {
    if (const auto drawn = storage::write_file_whole(svg_of(bound_charts(report)), options.chart);
        !drawn)
      return tl::unexpected(drawn.error());
  }
  const std::vector<std::string> notes =
      program->recording ? notes_of(*program->recording) : std::vector<std::string>{};
  std::string text;
  if (options.json) {
    Json document = bound_json(report);
    document["notes"] = notes;
    text = json_text(document);
  } else {
    text = bound_text(report) + (notes.empty() ? "" : "\n") + notes_text(notes);
  }
  if (const auto printed = print(text); !printed)
    return tl::unexpected(printed.error());
  return 0;
}

}  // namespace

void add_bound(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand(
      "bound", "Say how fast the program can surely be made by binding its threads to CPUs");
  const auto options = std::make_shared<BoundOptions>();
  command->add_option("FILE", options->file, "A .lptrace, .prog or .rec file");
  command
      ->add_option("--cpus", options->cpus,
                   "Numbers of CPUs, as in 1,2,4 or 1-8; without it, 1,2,4,8,16")
      ->type_name("LIST");
  command
      ->add_option("--latency", options->latency,
                   "How long a signal takes from one CPU to another, as in 0,4us,8us; a bare\n"
                   "number is milliseconds. Without it, 0")
      ->type_name("LIST");
  command
      ->add_option("--vector", options->vector,
                   "In place of FILE: the parts of the completion time in which\n"
                   "1, 2, … threads run, each with a CPU of its own, as in 1/3,1/3,1/3")
      ->type_name("V1,V2,..");
  command
      ->add_option("--granularity", options->granularity,
                   "With --vector: signals per millisecond of work")
      ->type_name("Z");
  command
      ->add_option("--bindings", options->bindings,
                   "Simulate these too, as in block,round-robin,binpack, and say\n"
                   "which surely are not the best")
      ->type_name("NAMES");
  command
      ->add_option("--chart", options->chart,
                   "Draw the speed-ups by CPUs, or by latencies where there is one\n"
                   "number of CPUs, as SVG")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print one JSON document");
  command->footer(
      "Examples:\n"
      "  longpole bound program.lptrace --cpus 1-16 --latency 0,4us,8us\n"
      "  longpole bound program.lptrace --cpus 1-16 --bindings block,round-robin --chart "
      "bound.svg\n"
      "  longpole bound --vector 1/3,1/3,1/3 --granularity 5/6 --cpus 2 --latency 0,1\n\n"
      "The bound is a factor on the time that the program takes with a CPU for each thread. As it "
      "does,\nbindings are simulated where nothing but signals between CPUs costs time; `longpole "
      "allocate`\nreckons with wake-ups, too.");
  command->callback([options, &chosen] { chosen.run = [options] { return bound(*options); }; });
}

}  // namespace longpole::cli
