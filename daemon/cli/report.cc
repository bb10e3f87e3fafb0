#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "analysis/forecast.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/computer_options.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/machine_note.h"
#include "cli/progress_line.h"
#include "cli/report_concurrency.h"
#include "cli/report_quartz.h"
#include "cli/report_tables.h"
#include "cli/report_words.h"
#include "cli/text_table.h"

namespace longpole::cli {
namespace {

struct ReportOptions {
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
  auto list = parse_cpu_list(text);
  if (list && list->size() > 1)
    list = bad_input(fmt::format("--cpus {}", text), "a report is about one number of CPUs");
  if (!list) {
    list.error().remedy = "give one number, like 8";
    return tl::unexpected(list.error());
  }
  return list->front();
}

struct Headline {
  std::uint32_t cpus = 1;
  double total_ns = 0;
  double speedup = 1;  // against one CPU
  std::string_view scheduler;
};

// "sorter on 8 CPUs: 1.75 s, 2.31 times as fast as on one CPU (scheduler shared)".
std::string headline(const Recording& recording, const ReportOptions& options,
                     const Headline& run) {
  const std::string speedup =
      run.cpus == 1 ? "" : fmt::format(", {:.2f} times as fast as on one CPU", run.speedup);
  return fmt::format("{} on {}: {}{} (scheduler {})\n\n",
                     printable(program_name(recording, options.file)), count_text(run.cpus, "CPU"),
                     duration_text(run.total_ns), speedup, run.scheduler);
}

std::string headline(const Recording& recording, const ReportOptions& options,
                     const analysis::Prediction& prediction) {
  return headline(recording, options,
                  Headline{prediction.cpus, prediction.total_ns, prediction.speedup,
                           analysis::scheduler_name(prediction.scheduler)});
}

std::string closing_notes(const Recording& recording) {
  const std::string notes = notes_text(recording);
  return notes.empty() ? "" : "\n" + notes;
}

std::string json_with_notes(Json document, const Recording& recording) {
  document["notes"] = notes_of(recording);
  return json_text(document);
}

template <typename Result, typename Predicted>
std::string render(const Result& table, const Recording& recording, const ReportOptions& options,
                   const Predicted& prediction, const TableView& view) {
  if (options.json)
    return json_with_notes(json_of(table, recording), recording);
  return headline(recording, options, prediction) + text_of(table, recording, view) +
         closing_notes(recording);
}

Expected<int> finish(const std::string& text, const Recording& recording, bool json) {
  if (const auto printed = print(text); !printed)
    return tl::unexpected(printed.error());
  if (json)
    fmt::print(stderr, "{}", notes_text(recording));
  return 0;
}

// Nobody waits for the report while this is simulated.
void tell_machine(const std::shared_ptr<const analysis::Study>& study,
                  const analysis::Prediction& prediction) {
  std::string note;
  {
    const ProgressLine progress("simulating by the scheduler linux");
    const std::shared_ptr<const Recording> recording(study, &study->recording());
    note = machine_note(analysis::Forecaster(recording), {}, prediction);
  }
  fmt::print(stderr, "{}", note);
}

// Of what there is a report on a run on a machine.
constexpr std::array of_machines = {"function", "line", "path", "concurrency"};

std::string text_on_machine(const std::shared_ptr<const Recording>& recording,
                            const ReportOptions& options, const analysis::Execution& run,
                            const Headline& line, const TableView& view) {
  if (options.by == "path")
    return render(analysis::path_of_machine(run), *recording, options, line, view);
  if (options.by == "concurrency")
    return render(analysis::classify_concurrency(run), *recording, options, line, view);
  const analysis::Study study(recording);
  if (options.by == "line")
    return render(study.lines(run), *recording, options, line, view);
  return render(study.functions(run), *recording, options, line, view);
}

// Of the run as a machine would have it, not of the weights of the ideal execution.
Expected<int> report_on_machine(const ReportOptions& options, analysis::Computer computer,
                                std::uint32_t cpus, std::size_t top) {
  auto opened = open_recording(options.file);
  if (!opened)
    return tl::unexpected(opened.error());
  const auto recording = std::make_shared<const Recording>(*std::move(opened));
  computer.machine.cpus = cpus == 0 ? recording->run.machine_cpus : cpus;
  std::string text;
  {
    const ProgressLine progress("simulating");
    const analysis::Forecaster forecaster(recording);
    const auto executed = forecaster.execute(computer, {});
    if (!executed)
      return tl::unexpected(executed.error());
    const analysis::Execution& run = *executed->execution;
    if (run.deadlock())
      return tl::unexpected(deadlock_error(*recording, *run.deadlock(), options.file));
    const auto on_one = forecaster.on(with_one_cpu(computer), {});
    if (!on_one)
      return tl::unexpected(on_one.error());
    const auto total = static_cast<double>(run.total().count());
    const Headline line{computer.machine.cpus, total, total > 0 ? on_one->total_ns / total : 1,
                        scheduler_name(computer)};
    text = text_on_machine(recording, options, run, line, TableView{top, terminal_width()});
  }
  return finish(text, *recording, options.json);
}

std::string by_function(const analysis::Study& study, const ReportOptions& options,
                        const analysis::Prediction& prediction, const TableView& view) {
  const auto table =
      study.functions(prediction.cpus, prediction.scheduler, analysis::WithHeadroom::yes);
  if (options.json) {
    Json document = json_of(table, study.recording());
    document["leads"] =
        json_of(study.leads(std::max(leads_up_to_cpus, prediction.cpus)), study.recording());
    return json_with_notes(std::move(document), study.recording());
  }
  const std::string words = words_of(study, table, prediction.scheduler);
  return headline(study.recording(), options, prediction) + words + (words.empty() ? "" : "\n") +
         text_of(table, study.recording(), view) + closing_notes(study.recording());
}

Expected<int> report(const ReportOptions& options) {
  constexpr std::array known = {"function", "line",      "segment",     "thread", "object",
                                "path",     "call-path", "concurrency", "quartz"};
  if (std::find(known.begin(), known.end(), options.by) == known.end())
    return bad_input(fmt::format("--by {}", options.by), "this version has no such report",
                     fmt::format("choose one of {}", fmt::join(known, ", ")));
  if (!options.of.empty() && options.by != "quartz")
    return bad_input(fmt::format("--of {}", options.of),
                     "only one row of --by quartz can be looked at",
                     "add --by quartz, or leave it out");
  const auto top = parse_number("--top", options.top, 0, most_rows);
  if (!top)
    return tl::unexpected(top.error());
  Expected<std::uint32_t> cpus = 0U;
  if (!options.cpus.empty())
    cpus = parse_one_count(options.cpus);
  if (!cpus)
    return tl::unexpected(cpus.error());
  const auto computer = analysis::computer_named(options.scheduler);
  if (!computer)
    return unknown_scheduler(options.scheduler);
  if (computer->kind == analysis::Computer::Kind::machine) {
    if (std::find(of_machines.begin(), of_machines.end(), options.by) != of_machines.end())
      return report_on_machine(options, *computer, *cpus, *top);
    return bad_input(
        fmt::format("--scheduler {}", options.scheduler),
        fmt::format("--by {} is about a program whose threads share the CPUs evenly", options.by),
        fmt::format("choose shared or ideal, or --by {}",
                    fmt::join(of_machines.begin(), of_machines.end(), ", ")));
  }
  const auto scheduler = parse_scheduler(options.scheduler);
  if (!scheduler)
    return tl::unexpected(scheduler.error());

  const auto study = open_study(options.file);
  if (!study)
    return tl::unexpected(study.error());
  const Recording& recording = (*study)->recording();
  if (*cpus == 0)
    cpus = recording.run.machine_cpus;

  analysis::Prediction prediction;
  std::string text;
  {
    const ProgressLine progress("analysing");
    prediction = (*study)->predict(*cpus, *scheduler);
    if (prediction.deadlock)
      return tl::unexpected(deadlock_error(recording, *prediction.deadlock, options.file));
    const TableView view{*top, terminal_width()};
    if (options.by == "function")
      text = by_function(**study, options, prediction, view);
    else if (options.by == "line")
      text = render((*study)->lines(*cpus, *scheduler), recording, options, prediction, view);
    else if (options.by == "quartz") {
      const auto quartz = look_at(**study, *cpus, *scheduler, options.of);
      if (!quartz)
        return tl::unexpected(quartz.error());
      text = render(*quartz, recording, options, prediction, view);
    } else if (options.by == "object")
      text = render((*study)->objects(*cpus, *scheduler), recording, options, prediction, view);
    else if (options.by == "thread")
      text = render((*study)->threads(*cpus, *scheduler), recording, options, prediction, view);
    else if (options.by == "path")
      text = render((*study)->path(*cpus, *scheduler), recording, options, prediction, view);
    else if (options.by == "call-path")
      text = render(analysis::call_paths(recording, (*study)->ideal(), *cpus, *scheduler),
                    recording, options, prediction, view);
    else if (options.by == "concurrency")
      text = render(analysis::classify_concurrency(recording, (*study)->ideal(), *cpus, *scheduler),
                    recording, options, prediction, view);
    else
      text = render((*study)->segments(*cpus, *scheduler), recording, options, prediction, view);
  }
  auto finished = finish(text, recording, options.json);
  if (finished && !options.json && *scheduler == analysis::Scheduler::shared)
    tell_machine(*study, prediction);
  return finished;
}

}  // namespace

void add_report(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand(
      "report", "Say which functions or lines hold the program back on a number of CPUs");
  const auto options = std::make_shared<ReportOptions>();
  command->add_option("FILE", options->file, "A .lptrace, .prog or .rec file")->required();
  command
      ->add_option("--cpus", options->cpus,
                   "The number of CPUs; without it, that of the machine that recorded")
      ->type_name("N");
  command
      ->add_option(
          "--by", options->by,
          "What a row is: function (the default), line, call-path (each way to\na function), "
          "segment, thread, object (what threads wait for) or path (the\ncritical path itself); "
          "or concurrency: how well the CPUs are used, and\nwhat the path waits for; or quartz: "
          "functions, locks and threads\nby how "
          "many CPUs are busy meanwhile")
      ->type_name("KIND");
  command
      ->add_option("--of", options->of,
                   "With --by quartz: the function, lock or thread to look at closely")
      ->type_name("NAME");
  command
      ->add_option(
          "--scheduler", options->scheduler,
          "shared (the default): threads share the CPUs evenly; ideal: a CPU\nfor each thread. "
          "With --by function, line, path or concurrency also those of\n`longpole simulate`: the "
          "run as simulated, waiting for a CPU included")
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
      "  longpole report program.lptrace --cpus 8 --by line --scheduler linux\n"
      "  longpole report program.lptrace --cpus 8 --by function --json");
  command->callback([options, &chosen] { chosen.run = [options] { return report(*options); }; });
}

}  // namespace longpole::cli
