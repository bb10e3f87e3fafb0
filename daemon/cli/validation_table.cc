#include "cli/validation_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/text_table.h"

namespace longpole::cli {
namespace {

// What the tables of the papers call a good prediction; where not even that can be told, it is said.
constexpr double telling_error = 0.05;
// How much of the CPUs others may take before it is worth a word.
constexpr double telling_others = 0.02;
constexpr double telling_stolen = 0.02;
// How much more CPU time on many CPUs than on one is worth a word.
constexpr double telling_cpu_time = 0.03;
// How many times as long on one CPU as on another is worth a word.
constexpr double telling_unevenness = 1.1;

std::string range_text(const analysis::Interval& range) {
  return fmt::format("{:.2f}–{:.2f}", range.low, range.high);
}

Json fraction_or_null(std::optional<double> value) {
  return value ? fraction(*value) : Json(nullptr);
}

Json json_of(const ValidationRow& row) {
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
          {"stolen_share", real(measured.stolen_share)},
          {"real_speedup", real(measured.speedup)},
          {"real_least", real(measured.range.low)},
          {"real_most", real(measured.range.high)},
          {"real_low", fraction_or_null(low)},
          {"real_high", fraction_or_null(high)},
          {"predicted_ns", number(row.predicted_ns)},
          {"predicted_speedup", fraction(row.predicted_speedup)},
          {"predicted_low", row.interval ? fraction(row.interval->low) : Json(nullptr)},
          {"predicted_high", row.interval ? fraction(row.interval->high) : Json(nullptr)},
          {"plain_speedup", fraction_or_null(row.plain_speedup)},
          {"uncorrected_speedup", fraction_or_null(row.uncorrected_speedup)},
          {"error", error ? fraction(error->error) : Json(nullptr)},
          {"error_low", fraction_or_null(error_low)},
          {"error_high", fraction_or_null(error_high)},
          {"compensated_speedup", fraction_or_null(row.compensated_speedup)},
          {"compensated_error", fraction_or_null(row.compensated_error())},
          {"limit_speedup", fraction(row.limit)},
          {"amdahl_speedup", fraction(row.amdahl)}};
}

}  // namespace

std::string validation_json(const Validation& validation) {
  Json rows = Json::array();
  for (const ValidationRow& row : validation.rows)
    rows.push_back(json_of(row));
  return json_text({{"program", validation.program},
                    {"runs", validation.rounds},
                    {"threads", validation.threads},
                    {"scheduler", validation.scheduler},
                    {"model", name_of(validation.model)},
                    {"serial_fraction", fraction(validation.serial_fraction)},
                    {"refilling_share", fraction_or_null(validation.refilling_share)},
                    {"unevenness", fraction(validation.unevenness)},
                    {"runs_that_read", validation.that_read.runs},
                    {"lockstep_advice", validation.lockstep_advice},
                    {"rows", std::move(rows)}});
}

std::string validation_caveats(const Validation& validation) {
  std::string out;
  std::vector<std::uint32_t> not_measured;
  std::vector<std::uint32_t> noisy;
  double on_one_cpu_time = 0;
  double others = 0;
  double stolen = 0;
  bool few = false;
  for (const ValidationRow& row : validation.rows) {
    if (row.plain_speedup && validation.lockstep_as_advised)
      out += fmt::format(
          "note: {} CPUs are predicted from a recording in lockstep, as that on one CPU advises "
          "({}); "
          "without, by --lockstep none, it would be {:.2f}\n",
          row.cpus, fmt::join(validation.lockstep_advice, ", "), *row.plain_speedup);
    else if (row.plain_speedup)
      out += fmt::format(
          "note: {} CPUs are predicted from a recording in lockstep; without, it would be {:.2f}\n",
          row.cpus, *row.plain_speedup);
    if (row.uncorrected_speedup)
      out += fmt::format(
          "note: with as much CPU time as on one CPU, {} CPUs would be predicted {:.2f}\n",
          row.cpus, *row.uncorrected_speedup);
    if (!row.real) {
      not_measured.push_back(row.cpus);
      continue;
    }
    others = std::max(others, row.real->others_share);
    stolen = std::max(stolen, row.real->stolen_share);
    if (row.cpus == 1)
      on_one_cpu_time = row.real->cpu_time_ns;
    const auto error = row.error();
    few = few || (error && !error->confidence);
    if (error && error->confidence && error->confidence->low < telling_error &&
        error->confidence->high > telling_error)
      noisy.push_back(row.cpus);
    const double more = row.real->cpu_time_ns / (on_one_cpu_time * row.cpu_time_ratio) - 1;
    if (on_one_cpu_time > 0 && more > telling_cpu_time)
      out += fmt::format(
          "note: on {} CPUs it takes {} more CPU time than {}, for its data moves between the "
          "CPUs or its threads spin; a recording on one CPU cannot know of that\n",
          row.cpus, percent_text(more), row.uncorrected_speedup ? "that" : "on one");
    else if (on_one_cpu_time > 0 && more < -telling_cpu_time)
      out += fmt::format(
          "note: on {} CPUs it takes {} less CPU time than {}; a recording on one CPU holds "
          "that as if it were work\n",
          row.cpus, percent_text(-more), row.uncorrected_speedup ? "that" : "on one");
  }
  if (validation.refilling_share.value_or(0) > telling_cpu_time)
    out += fmt::format(
        "note: on one CPU {} of its CPU time goes into loading caches anew, for its threads push "
        "each other's data out when they are switched: in longer time slices it takes that much "
        "less\n",
        percent_text(*validation.refilling_share));
  if (validation.kept_on_cpus)
    out +=
        "note: it chooses CPUs for its threads itself (sched_setaffinity), and more than it was "
        "given; where these were not all, it was kept on them\n";
  if (validation.unevenness > telling_unevenness)
    out += fmt::format(
        "note: the CPUs are not alike: by itself, one of them took {:.2f} times as long as another "
        "in "
        "the same round; speed-ups are against their average\n",
        validation.unevenness);
  if (others > telling_others)
    out += fmt::format(
        "note: other programs took up to {} of the CPUs meanwhile; stop them for a fair "
        "comparison\n",
        percent_text(others));
  if (stolen > telling_stolen)
    out += fmt::format(
        "note: the host of this virtual machine took up to {} of the CPUs' time for others; that "
        "is taken out of the real times\n",
        percent_text(stolen));
  if (validation.that_read.runs > 0)
    out += fmt::format(
        "note: {} of the real runs read from a disk what others found in memory, up to {:.0f} MB; "
        "they waited for it: let less else use the memory, or put the files into /dev/shm\n",
        validation.that_read.runs, static_cast<double>(validation.that_read.most_bytes) / 1e6);
  if (!not_measured.empty())
    out += fmt::format("note: this machine has fewer CPUs: {} predicted, not measured\n",
                       fmt::join(not_measured, ", "));
  if (few)
    out += fmt::format("note: how certain the errors are is known from {} --runs on\n",
                       analysis::fewest_for_confidence);
  if (!noisy.empty())
    out += fmt::format(
        "note: the runs differ too much to say whether the error on {} CPUs is below {:.0f}%; more "
        "--runs, as --within makes them, or a quieter machine, would\n",
        fmt::join(noisy, ", "), telling_error * 100);
  return out;
}

std::string validation_text(const Validation& validation) {
  TextTable table({{"CPUs"},
                   {"real time"},
                   {"real"},
                   {"least–most"},
                   {"predicted"},
                   {"from–to"},
                   {"error"},
                   {"95 in 100"},
                   {"compensated"},
                   {"error"},
                   {"min(P, threads)"},
                   {"Amdahl"}});
  for (const ValidationRow& row : validation.rows) {
    const auto error = row.error();
    const std::string none = "–";
    table.add(
        {count_text(row.cpus), row.real ? duration_text(row.real->elapsed_ns) : none,
         row.real ? fmt::format("{:.2f}", row.real->speedup) : none,
         row.real && row.cpus > 1 ? range_text(row.real->range) : none,
         fmt::format("{:.2f}", row.predicted_speedup),
         row.interval ? range_text(*row.interval) : none, error ? percent_text(error->error) : none,
         error && error->confidence ? fmt::format("{:.1f}–{:.1f}%", error->confidence->low * 100,
                                                  error->confidence->high * 100)
                                    : none,
         row.compensated_speedup ? fmt::format("{:.2f}", *row.compensated_speedup) : none,
         row.compensated_error() ? percent_text(*row.compensated_error()) : none,
         fmt::format("{:.2f}", row.limit), fmt::format("{:.2f}", row.amdahl)});
  }
  return fmt::format(
      "{}: {}, {}, scheduler {}, model {}\n\n{}\nreal: speed-up, the median over the rounds; "
      "error: "
      "|real − predicted| / real, and where it lies\nin 95 of 100 cases. from–to: where the "
      "prediction would be if what it rests on were otherwise, and\nwith the CPU time of the real "
      "runs. compensated: the prediction, had that CPU time been known.\nAmdahl: with {} of the "
      "work done while no other thread could run.\n{}{}",
      printable(validation.program), count_text(validation.rounds, "round"),
      count_text(validation.threads, "thread"), validation.scheduler, name_of(validation.model),
      table.text(terminal_width()), percent_text(validation.serial_fraction),
      validation_caveats(validation), validation.notices);
}

}  // namespace longpole::cli
