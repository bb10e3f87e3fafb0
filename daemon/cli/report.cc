#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/progress_line.h"
#include "cli/report_concurrency.h"
#include "cli/report_quartz.h"
#include "cli/report_tables.h"
#include "cli/report_words.h"
#include "cli/text_table.h"

namespace longpole::cli {
namespace {

struct Options {
  std::string file;
  std::string cpus;  // empty: the machine's count
  std::string scheduler = "shared";
  std::string by = "function";
  std::string of;
  std::string top = "20";
  bool json = false;
};

constexpr std::uint32_t most_rows = 1'000'000'000;

Expected<std::uint32_t> parse_one_count(const std::string& text) {
  const auto list = parse_cpu_list(text);
  if (!list)
    return tl::unexpected(list.error());
  if (list->size() > 1)
    return bad_input(fmt::format("--cpus {}", text), "a report is about one number of CPUs",
                     "give one");
  return list->front();
}

// "sorter on 8 CPUs: 1.75 s, 2.31 times as fast as on one CPU (scheduler shared)".
std::string headline(const Recording& recording, const Options& options,
                     const analysis::Prediction& prediction) {
  const std::string speedup =
      prediction.cpus == 1
          ? ""
          : fmt::format(", {:.2f} times as fast as on one CPU", prediction.speedup);
  return fmt::format("{} on {}: {}{} (scheduler {})\n\n",
                     printable(program_name(recording, options.file)),
                     count_text(prediction.cpus, "CPU"), duration_text(prediction.total_ns),
                     speedup, analysis::scheduler_name(prediction.scheduler));
}

std::string closing_notes(const Recording& recording) {
  const std::string notices = notices_text(recording);
  return notices.empty() ? "" : "\n" + notices;
}

template <typename Result>
std::string render(const Result& table, const analysis::Study& study, const Options& options,
                   const analysis::Prediction& prediction, const TableView& view) {
  const Recording& recording = study.recording();
  if (options.json)
    return json_text(json_of(table, recording));
  return headline(recording, options, prediction) + text_of(table, recording, view) +
         closing_notes(recording);
}

std::string by_function(const analysis::Study& study, const Options& options,
                        const analysis::Prediction& prediction, const TableView& view) {
  const auto table =
      study.functions(prediction.cpus, prediction.scheduler, analysis::WithHeadroom::yes);
  if (options.json) {
    Json document = json_of(table, study.recording());
    document["leads"] =
        json_of(study.leads(std::max(leads_up_to_cpus, prediction.cpus)), study.recording());
    return json_text(document);
  }
  const std::string words = words_of(study, table, prediction.scheduler);
  return headline(study.recording(), options, prediction) + words + (words.empty() ? "" : "\n") +
         text_of(table, study.recording(), view) + closing_notes(study.recording());
}

Expected<int> report(const Options& options) {
  constexpr std::array known = {"function", "line", "segment",     "thread",
                                "object",   "path", "concurrency", "quartz"};
  if (std::find(known.begin(), known.end(), options.by) == known.end())
    return bad_input(fmt::format("--by {}", options.by), "this version has no such report",
                     fmt::format("choose one of {}", fmt::join(known, ", ")));
  if (!options.of.empty() && options.by != "quartz")
    return bad_input(fmt::format("--of {}", options.of),
                     "only one row of --by quartz can be looked at",
                     "add --by quartz, or leave it out");
  const auto scheduler = parse_scheduler(options.scheduler);
  if (!scheduler)
    return tl::unexpected(scheduler.error());
  const auto top = parse_number("--top", options.top, 0, most_rows);
  if (!top)
    return tl::unexpected(top.error());
  Expected<std::uint32_t> cpus = 0U;
  if (!options.cpus.empty())
    cpus = parse_one_count(options.cpus);
  if (!cpus)
    return tl::unexpected(cpus.error());

  const auto study = open_study(options.file);
  if (!study)
    return tl::unexpected(study.error());
  const Recording& recording = (*study)->recording();
  if (*cpus == 0)
    cpus = recording.run.machine_cpus;

  std::string text;
  {
    const ProgressLine progress("analysing");
    const analysis::Prediction prediction = (*study)->predict(*cpus, *scheduler);
    if (prediction.deadlock)
      return tl::unexpected(deadlock_error(recording, *prediction.deadlock, options.file));
    const TableView view{*top, terminal_width()};
    if (options.by == "function")
      text = by_function(**study, options, prediction, view);
    else if (options.by == "line")
      text = render((*study)->lines(*cpus, *scheduler), **study, options, prediction, view);
    else if (options.by == "quartz") {
      const auto quartz = look_at(**study, *cpus, *scheduler, options.of);
      if (!quartz)
        return tl::unexpected(quartz.error());
      text = render(*quartz, **study, options, prediction, view);
    } else if (options.by == "object")
      text = render((*study)->objects(*cpus, *scheduler), **study, options, prediction, view);
    else if (options.by == "thread")
      text = render((*study)->threads(*cpus, *scheduler), **study, options, prediction, view);
    else if (options.by == "path")
      text = render((*study)->path(*cpus, *scheduler), **study, options, prediction, view);
    else if (options.by == "concurrency")
      text = render(analysis::classify_concurrency(recording, (*study)->ideal(), *cpus, *scheduler),
                    **study, options, prediction, view);
    else
      text = render((*study)->segments(*cpus, *scheduler), **study, options, prediction, view);
  }
  if (const auto printed = print(text); !printed)
    return tl::unexpected(printed.error());
  if (options.json)
    fmt::print(stderr, "{}", notices_text(recording));
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand(
      "report", "Say which functions or lines hold the program back on a number of CPUs");
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "A .lptrace, .prog or .rec file")->required();
  command
      ->add_option("--cpus", options->cpus,
                   "The number of CPUs; without it, that of the machine that recorded")
      ->type_name("N");
  command
      ->add_option(
          "--by", options->by,
          "What a row is: function (the default), line, segment, thread, object\n(what "
          "threads wait for) or path (the critical path itself);\nor concurrency: how well "
          "the CPUs are used, and what the path waits for;\nor quartz: functions, locks and "
          "threads by how many CPUs are busy meanwhile")
      ->type_name("KIND");
  command
      ->add_option("--of", options->of,
                   "With --by quartz: the function, lock or thread to look at closely")
      ->type_name("NAME");
  command
      ->add_option(
          "--scheduler", options->scheduler,
          "shared (the default): threads share the CPUs evenly; ideal: a CPU\nfor each thread")
      ->type_name("NAME");
  command
      ->add_option("--top", options->top,
                   "Rows of the table, 0 for all; without it, 20. JSON has all")
      ->type_name("N");
  command->add_flag("--json", options->json, "Print one JSON document");
  command->footer(
      "Examples:\n"
      "  longpole report program.lptrace\n"
      "  longpole report program.lptrace --cpus 8 --by line\n"
      "  longpole report program.lptrace --cpus 8 --by function --json");
  command->callback([options, &chosen] { chosen.run = [options] { return report(*options); }; });
}

}  // namespace longpole::cli
