#include "cli/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <map>
#include <utility>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/json_document.h"
#include "cli/progress_line.h"
#include "cli/report_tables.h"
#include "cli/text_table.h"

namespace longpole::cli {
namespace {

using analysis::ForecastOfFunctions;
using analysis::FunctionActivity;

constexpr std::size_t rows_shown = 20;

struct Simulated {
  std::vector<analysis::Computer> computers;
  std::vector<ForecastOfFunctions> forecasts;  // one each
};

Expected<Simulated> simulate_side(const analysis::Forecaster& forecaster,
                                  const Recording& recording, const Side& side) {
  const auto cpus = parse_cpu_list(side.cpus);
  if (!cpus)
    return tl::unexpected(cpus.error());
  auto computers = read_computers(side.options, recording, *cpus);
  if (!computers)
    return tl::unexpected(computers.error());
  const auto models = read_models(side.options, recording);
  if (!models)
    return tl::unexpected(models.error());
  Simulated out{*std::move(computers), {}};
  for (const analysis::Computer& computer : out.computers) {
    auto forecast = forecaster.functions_on(computer, *models);
    if (!forecast)
      return tl::unexpected(forecast.error());
    out.forecasts.push_back(*std::move(forecast));
  }
  return out;
}

// A function on both sides, zero where it did nothing.
struct Row {
  FunctionId function;
  std::array<FunctionActivity, 2> sides;
  [[nodiscard]] double longer_ns() const {
    const auto sum = [](const FunctionActivity& one) {
      return one.running_ns + one.runnable_ns + one.blocked_ns;
    };
    return sum(sides[1]) - sum(sides[0]);
  }
};

// Those that differ most first; ties in the order of the recording.
std::vector<Row> rows_of(const ForecastOfFunctions& first, const ForecastOfFunctions& second) {
  std::map<std::uint32_t, Row> by_function;
  const auto put = [&](const ForecastOfFunctions& from, std::size_t side) {
    for (const FunctionActivity& one : from.functions) {
      Row& row = by_function[one.function.value];
      row.function = one.function;
      row.sides[side] = one;
    }
  };
  put(first, 0);
  put(second, 1);
  std::vector<Row> rows;
  for (const auto& [id, row] : by_function)
    rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::abs(a.longer_ns()) > std::abs(b.longer_ns());
  });
  return rows;
}

Json run_json(const Recording& recording, const analysis::Computer& computer,
              const analysis::Forecast& forecast) {
  const auto& deadlock = forecast.deadlock;
  return {{"cpus", computer.machine.cpus},
          {"scheduler", scheduler_name(computer)},
          {"model", simulation::name_of(forecast.model)},
          {"total_ns", deadlock ? Json(nullptr) : number(forecast.total_ns)},
          {"deadlock", deadlock ? deadlock_json(recording, *deadlock) : Json(nullptr)}};
}

std::string json_of(const Recording& recording, const Simulated& first, const Simulated& second) {
  Json document{{"runs", Json::array()}, {"against", Json::array()}, {"functions", Json::array()}};
  for (std::size_t i = 0; i < first.forecasts.size(); ++i) {
    document["runs"].push_back(
        run_json(recording, first.computers[i], first.forecasts[i].forecast));
    document["against"].push_back(
        run_json(recording, second.computers[i], second.forecasts[i].forecast));
    for (const Row& row : rows_of(first.forecasts[i], second.forecasts[i])) {
      const Function* const function =
          row.function.known() ? &recording.functions[row.function.index()] : nullptr;
      const auto activity = [](const FunctionActivity& one) {
        return Json{{"running_ns", number(one.running_ns)},
                    {"runnable_ns", number(one.runnable_ns)},
                    {"blocked_ns", number(one.blocked_ns)}};
      };
      document["functions"].push_back(
          {{"cpus", first.computers[i].machine.cpus},
           {"function", function_name(recording, row.function)},
           {"file", function == nullptr ? Json(nullptr) : file_path(recording, function->file)},
           {"line", function == nullptr ? Json(nullptr) : line_number(function->line)},
           {"run", activity(row.sides[0])},
           {"against", activity(row.sides[1])}});
    }
  }
  document["notes"] = notes_of(recording);
  return json_text(document);
}

std::string signed_duration(double nanoseconds) {
  const std::string text = duration_text(std::abs(nanoseconds));
  return nanoseconds == 0 ? text : (nanoseconds < 0 ? "-" : "+") + text;
}

std::string function_table(const Recording& recording, const ForecastOfFunctions& first,
                           const ForecastOfFunctions& second) {
  TextTable table({{"computes: 1"},
                   {"2"},
                   {"waits for a CPU: 1"},
                   {"2"},
                   {"waits else: 1"},
                   {"2"},
                   {"longer in 2 by"},
                   {"function", TextTable::Align::left}});
  const std::vector<Row> rows = rows_of(first, second);
  for (std::size_t i = 0; i < std::min(rows.size(), rows_shown); ++i) {
    const auto& [a, b] = rows[i].sides;
    table.add(
        {duration_text(a.running_ns), duration_text(b.running_ns), duration_text(a.runnable_ns),
         duration_text(b.runnable_ns), duration_text(a.blocked_ns), duration_text(b.blocked_ns),
         signed_duration(rows[i].longer_ns()),
         rows[i].function.known() ? printable(recording.functions[rows[i].function.index()].name)
                                  : "(unknown)"});
  }
  std::string text = table.text(terminal_width());
  if (rows.size() > rows_shown)
    text += fmt::format("and {}; --json has all\n",
                        count_text(rows.size() - rows_shown, "more function"));
  return text;
}

std::string text_of(const Recording& recording, const Simulated& first, const Simulated& second,
                    const std::array<const Side*, 2>& sides, const std::string& file) {
  std::string text = fmt::format("{}: {}\n", printable(program_name(recording, file)),
                                 count_text(recording.threads.size(), "thread"));
  for (std::size_t side = 0; side < 2; ++side) {
    const Simulated& simulated = side == 0 ? first : second;
    text += fmt::format("  {}: scheduler {}, model {}{}{}\n", side + 1,
                        scheduler_name(simulated.computers.front()),
                        name_of(simulated.forecasts.front().forecast.model),
                        sides[side]->written.empty() ? "" : ": ", printable(sides[side]->written));
  }
  TextTable totals({{"CPUs: 1"}, {"2"}, {"time: 1"}, {"2"}, {"longer in 2 by"}});
  for (std::size_t i = 0; i < first.forecasts.size(); ++i) {
    const double a = first.forecasts[i].forecast.total_ns;
    const double b = second.forecasts[i].forecast.total_ns;
    totals.add({count_text(first.computers[i].machine.cpus),
                count_text(second.computers[i].machine.cpus), duration_text(a), duration_text(b),
                a > 0 ? fmt::format("{:+.1f}%", (b / a - 1) * 100) : "–"});
  }
  text += "\n" + totals.text(terminal_width());
  text += fmt::format("\nAll threads together, on {}:\n\n",
                      count_text(first.computers.back().machine.cpus, "CPU"));
  text += function_table(recording, first.forecasts.back(), second.forecasts.back());
  const std::string notes = notes_text(recording);
  return text + (notes.empty() ? "" : "\n") + notes;
}

}  // namespace

std::string written(const ComputerOptions& options) {
  std::string text;
  for_each_option(options, [&](const char* name, const std::string& value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", name, value);
  });
  return text;
}

Expected<Side> parse_against(const std::string& text, const std::string& cpus) {
  Side side;
  side.cpus = cpus;
  CLI::App options;
  options.set_help_flag();
  options.add_option("--cpus", side.cpus);
  add_computer_options(options, side.options);
  try {
    options.parse(text, false);
  } catch (const CLI::ParseError& error) {
    return bad_input(fmt::format("--against {}", text), error.what(),
                     "give options of `simulate` in quotes, as in --against '--scheduler fifo'");
  }
  side.written = written(side.options);
  if (const auto sound = check_names(side.options); !sound)
    return tl::unexpected(sound.error());
  return side;
}

Expected<int> compare(const std::shared_ptr<const Recording>& recording, const Side& first,
                      const Side& second, const std::string& file, bool json) {
  const analysis::Forecaster forecaster(recording);
  Expected<Simulated> one;
  Expected<Simulated> other;
  {
    const ProgressLine progress(
        fmt::format("simulating {}, twice", count_text(recording->event_count(), "event")));
    auto meanwhile = std::async(std::launch::async,
                                [&] { return simulate_side(forecaster, *recording, second); });
    one = simulate_side(forecaster, *recording, first);
    other = meanwhile.get();
  }
  if (!one)
    return tl::unexpected(one.error());
  if (!other)
    return tl::unexpected(other.error());
  if (one->forecasts.size() != other->forecasts.size())
    return bad_input(fmt::format("--cpus {} against --cpus {}", first.cpus, second.cpus),
                     "they are not as many", "give both sides as many numbers of CPUs");
  if (json) {
    if (const auto printed = print(json_of(*recording, *one, *other)); !printed)
      return tl::unexpected(printed.error());
    fmt::print(stderr, "{}", notes_text(*recording));
  }
  for (const Simulated* side : {&*one, &*other}) {
    for (const ForecastOfFunctions& simulated : side->forecasts) {
      if (simulated.forecast.deadlock)
        return tl::unexpected(deadlock_error(*recording, *simulated.forecast.deadlock, file));
    }
  }
  if (!json) {
    if (const auto printed = print(text_of(*recording, *one, *other, {&first, &second}, file));
        !printed)
      return tl::unexpected(printed.error());
  }
  return 0;
}

}  // namespace longpole::cli
