#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/json_document.h"
#include "cli/text_table.h"

namespace longpole::cli {
namespace {

struct Options {
  std::string file;
  std::string cpus = "1,2,4,8,16";
  std::string scheduler = "shared";
  std::string model = "auto";
  bool json = false;
};

// Direct simulation is the first that `auto` tries, and so far the only one.
constexpr const char* model_used = "direct";

Expected<void> check_model(const std::string& name) {
  if (name == "auto" || name == model_used)
    return {};
  return bad_input(fmt::format("--model {}", name), "this version has no such model",
                   "choose direct, or leave it out");
}

Json deadlock_json(const Recording& recording, const simulation::Deadlock& deadlock) {
  Json threads = Json::array();
  for (const simulation::Blocked& blocked : deadlock.threads)
    threads.push_back(recording.threads[blocked.thread.index()].name);
  return {{"at_ns", deadlock.at.count()}, {"threads", std::move(threads)}};
}

std::string json_of(const Recording& recording, const std::vector<analysis::Prediction>& runs) {
  Json rows = Json::array();
  for (const analysis::Prediction& run : runs) {
    // A program that stands still has no completion time.
    const bool completes = !run.deadlock;
    rows.push_back(
        {{"cpus", run.cpus},
         {"scheduler", analysis::scheduler_name(run.scheduler)},
         {"model", model_used},
         {"total_ns", completes ? number(run.total_ns) : Json(nullptr)},
         {"speedup", completes ? number(run.speedup) : Json(nullptr)},
         {"deadlock", completes ? Json(nullptr) : deadlock_json(recording, *run.deadlock)}});
  }
  return json_text({{"runs", std::move(rows)}});
}

std::string text_of(const Recording& recording, const std::vector<analysis::Prediction>& runs,
                    const Options& options) {
  TextTable table({{"CPUs"}, {"time"}, {"speed-up"}});
  for (const analysis::Prediction& run : runs)
    table.add(
        {count_text(run.cpus), duration_text(run.total_ns), fmt::format("{:.2f}", run.speedup)});
  return fmt::format(
      "{}: {}, scheduler {}, model {}\n\n{}{}{}", printable(program_name(recording, options.file)),
      count_text(recording.threads.size(), "thread"), options.scheduler, model_used,
      table.text(terminal_width()), recording.notices.empty() ? "" : "\n", notices_text(recording));
}

Expected<int> simulate(const Options& options) {
  const auto cpus = parse_cpu_list(options.cpus);
  if (!cpus)
    return tl::unexpected(cpus.error());
  const auto scheduler = parse_scheduler(options.scheduler);
  if (!scheduler)
    return tl::unexpected(scheduler.error());
  if (const auto model = check_model(options.model); !model)
    return tl::unexpected(model.error());
  const auto study = open_study(options.file);
  if (!study)
    return tl::unexpected(study.error());

  const Recording& recording = (*study)->recording();
  std::vector<analysis::Prediction> runs;
  for (const std::uint32_t count : *cpus)
    runs.push_back((*study)->predict(count, *scheduler));
  const std::optional<simulation::Deadlock>& deadlock = runs.front().deadlock;

  if (options.json) {
    if (const auto printed = print(json_of(recording, runs)); !printed)
      return tl::unexpected(printed.error());
    fmt::print(stderr, "{}", notices_text(recording));
  }
  if (deadlock)
    return tl::unexpected(deadlock_error(recording, *deadlock, options.file));
  if (!options.json) {
    if (const auto printed = print(text_of(recording, runs, options)); !printed)
      return tl::unexpected(printed.error());
  }
  return 0;
}

}  // namespace

void add_simulate(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand(
      "simulate", "Predict how long the recorded program takes on other numbers of CPUs");
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "A .lptrace, .prog or .rec file")->required();
  command
      ->add_option("--cpus", options->cpus,
                   "Numbers of CPUs, as in 1,2,4 or 1-8; without it, 1,2,4,8,16")
      ->type_name("LIST");
  command
      ->add_option(
          "--scheduler", options->scheduler,
          "shared (the default): threads share the CPUs evenly; ideal: a CPU\nfor each thread")
      ->type_name("NAME");
  command
      ->add_option("--model", options->model,
                   "How waiting is simulated: auto (the default) or direct")
      ->type_name("NAME");
  command->add_flag("--json", options->json, "Print one JSON document");
  command->footer(
      "Examples:\n"
      "  longpole simulate program.lptrace --cpus 1,2,4,8\n"
      "  longpole simulate program.prog --cpus 1-16 --json\n\n"
      "A program that deadlocks has no completion time: its threads and what they wait for are\n"
      "named, and the exit status is 2. With --json the document is printed all the same.");
  command->callback([options, &chosen] { chosen.run = [options] { return simulate(*options); }; });
}

}  // namespace longpole::cli
