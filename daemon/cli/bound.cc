#include "allocation/bound.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocation/bound_parameters.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/computer_options.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/json_document.h"
#include "cli/progress_line.h"
#include "cli/text_table.h"
#include "simulation/simulate.h"

namespace longpole::cli {
namespace {

using allocation::Bound;
using allocation::BoundFinder;
using allocation::Rational;

struct Options {
  std::string file;
  std::string vector;
  std::string granularity;
  std::string cpus = "1,2,4,8,16";
  std::string latency = "0";
  bool json = false;
};

// What is bounded: of a recording, or as it was written.
struct Program {
  std::string name;  // empty: nobody's in particular
  BoundFinder finder;
  std::optional<allocation::ProgramParameters> recorded;
};

struct Row {
  std::uint32_t cpus = 1;
  Nanoseconds latency{};
  Bound bound;

  [[nodiscard]] double ratio() const { return bound.ratio.convert_to<double>(); }
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

Expected<Program> read_written(const Options& options) {
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
  return Program{{}, *std::move(finder), {}};
}

Expected<Program> read_recorded(const Options& options) {
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
  return Program{program_name(*recording, options.file), *std::move(finder), *std::move(program)};
}

Expected<Program> read_program(const Options& options) {
  if (options.file.empty() == options.vector.empty())
    return bad_input("longpole bound", "it takes a FILE or --vector, one of them",
                     "see `longpole bound --help`");
  if (options.vector.empty() != options.granularity.empty())
    return bad_input("longpole bound", "--vector and --granularity go together",
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

std::string json_of(const Program& program, const std::vector<Row>& rows) {
  Json out = Json::array();
  for (const Row& row : rows) {
    Json line = {{"cpus", row.cpus},
                 {"latency_ns", row.latency.count()},
                 {"bound", fraction(row.ratio())},
                 {"allocation", row.bound.allocation},
                 {"total_ns", nullptr}};
    if (program.recorded)
      line["total_ns"] = number(row.ratio() * static_cast<double>(program.recorded->ideal.count()));
    out.push_back(std::move(line));
  }
  return json_text({{"rows", std::move(out)}});
}

// "15 × 5, 4": how many CPUs have how many threads.
std::string allocation_text(const allocation::Allocation& allocation) {
  std::string text;
  for (std::size_t i = 0; i < allocation.size();) {
    std::size_t same = i;
    while (same < allocation.size() && allocation[same] == allocation[i])
      ++same;
    text += text.empty() ? "" : ", ";
    text += same - i > 1 ? fmt::format("{} × {}", same - i, allocation[i])
                         : fmt::format("{}", allocation[i]);
    i = same;
  }
  return text;
}

std::string text_of(const Program& program, const std::vector<Row>& rows) {
  const auto threads = static_cast<std::uint32_t>(program.finder.parameters().profile.size());
  const auto on_one = program.finder.ratio({threads}, Nanoseconds{0}).convert_to<double>();
  std::string text = program.name.empty() ? std::string("any program") : printable(program.name);
  text += fmt::format(": {}, a speed-up of {:.2f} at most",
                      count_text(program.finder.parameters().profile.size(), "thread"), on_one);
  if (program.recorded)
    text += fmt::format(", {} in {} of work", count_text(program.recorded->signals, "signal"),
                        duration_text(static_cast<double>(program.recorded->work.count())));
  std::vector<TextTable::Column> columns{{"CPUs"}, {"latency"}, {"bound"}};
  if (program.recorded)
    columns.push_back({"time"});
  columns.insert(columns.end(), {{"speed-up"}, {"threads on each CPU", TextTable::Align::left}});
  TextTable table(std::move(columns));
  for (const Row& row : rows) {
    const double ratio = row.ratio();
    std::vector<std::string> cells{count_text(row.cpus), duration_text(row.latency),
                                   fmt::format("{:.4f}", ratio)};
    if (program.recorded)
      cells.push_back(duration_text(ratio * static_cast<double>(program.recorded->ideal.count())));
    cells.push_back(fmt::format("{:.2f}", on_one / ratio));
    cells.push_back(allocation_text(row.bound.allocation));
    table.add(std::move(cells));
  }
  return fmt::format(
      "{}\n\n{}\nSome binding of its threads to CPUs is that fast, or faster. One that is slower "
      "is "
      "surely not\nthe best; of one that is faster nothing is known.\n",
      text, table.text(terminal_width()));
}

Expected<int> bound(const Options& options) {
  const auto cpus = parse_cpu_list(options.cpus);
  if (!cpus)
    return tl::unexpected(cpus.error());
  const auto latencies = parse_latencies(options.latency);
  if (!latencies)
    return tl::unexpected(latencies.error());
  const auto program = read_program(options);
  if (!program)
    return tl::unexpected(program.error());
  std::vector<Row> rows;
  {
    ProgressLine progress("searching");
    for (const std::uint32_t count : *cpus) {
      for (const Nanoseconds latency : *latencies) {
        progress.set(fmt::format("bounding on {}", count_text(count, "CPU")));
        rows.push_back({count, latency, program->finder.find(count, latency)});
      }
    }
  }
  if (const auto printed = print(options.json ? json_of(*program, rows) : text_of(*program, rows));
      !printed)
    return tl::unexpected(printed.error());
  return 0;
}

}  // namespace

void add_bound(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand(
      "bound", "Say how fast the program can surely be made by binding its threads to CPUs");
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "A .lptrace, .prog or .rec file");
  command
      ->add_option("--cpus", options->cpus,
                   "Numbers of CPUs, as in 1,2,4 or 1-8; without it, 1,2,4,8,16")
      ->type_name("LIST");
  command
      ->add_option("--latency", options->latency,
                   "How long a signal takes from one CPU to another, as in 0,4us,8us;\n"
                   "without it, 0")
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
  command->add_flag("--json", options->json, "Print one JSON document");
  command->footer(
      "Examples:\n"
      "  longpole bound program.lptrace --cpus 1-16 --latency 0,4us,8us\n"
      "  longpole bound --vector 1/3,1/3,1/3 --granularity 5/6 --cpus 2 --latency 0,1\n\n"
      "The bound is a factor on the time that the program takes with a CPU for each thread.");
  command->callback([options, &chosen] { chosen.run = [options] { return bound(*options); }; });
}

}  // namespace longpole::cli
