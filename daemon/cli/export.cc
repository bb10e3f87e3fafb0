#include "export/export.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/computer_options.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/progress_line.h"
#include "storage/load.h"

namespace longpole::cli {
namespace {

struct ExportOptions {
  std::string file;
  std::string format;
  std::string cpus;  // empty: the run as it was recorded
  std::string output;
  ComputerOptions computer;
};

Expected<exporting::Run> simulated(const ExportOptions& options,
                                   const std::shared_ptr<const Recording>& recording,
                                   std::uint32_t cpus) {
  const auto computers = read_computers(options.computer, *recording, {cpus});
  if (!computers)
    return tl::unexpected(computers.error());
  const auto models = read_models(options.computer, *recording);
  if (!models)
    return tl::unexpected(models.error());
  const auto executed = analysis::Forecaster(recording).execute(computers->front(), *models);
  if (!executed)
    return tl::unexpected(executed.error());
  if (const auto& deadlock = executed->execution->deadlock())
    return tl::unexpected(deadlock_error(*recording, *deadlock, options.file));
  return exporting::simulated_run(*executed->execution, program_name(*recording, options.file),
                                  std::string(scheduler_name(computers->front())));
}

Expected<int> export_run(const ExportOptions& options) {
  const auto format = exporting::format_named(options.format);
  if (!format)
    return bad_input(fmt::format("--format {}", options.format), "there is no such format",
                     fmt::format("choose one of {}", fmt::join(exporting::format_names(), ", ")));
  if (options.cpus.empty()) {
    std::string given;
    for_each_option(options.computer,
                    [&](const char* name, const std::string& /*value*/) { given = name; });
    if (!given.empty())
      return bad_input(given, "without --cpus the run is exported as it was recorded",
                       "add --cpus N");
  }
  std::optional<std::uint32_t> cpus;
  if (!options.cpus.empty()) {
    const auto list = parse_cpu_list(options.cpus);
    if (!list)
      return tl::unexpected(list.error());
    if (list->size() > 1)
      return bad_input(fmt::format("--cpus {}", options.cpus),
                       "one run is exported, on one number of CPUs", "give one");
    cpus = list->front();
  }
  if (const auto sound = check_names(options.computer); !sound)
    return tl::unexpected(sound.error());
  if (options.output.empty() && exporting::is_binary(*format) && ::isatty(STDOUT_FILENO) != 0)
    return bad_input("cannot write to the terminal",
                     fmt::format("the format {} is not text", options.format),
                     "add -o FILE, or lead standard output into a file");

  auto opened = open_recording(options.file);
  if (!opened)
    return tl::unexpected(opened.error());
  auto recording = std::make_shared<const Recording>(*std::move(opened));
  std::string bytes;
  {
    const ProgressLine progress("exporting");
    const Expected<exporting::Run> run =
        cpus ? simulated(options, recording, *cpus)
             : exporting::recorded_run(recording, program_name(*recording, options.file));
    if (!run)
      return tl::unexpected(run.error());
    auto written = exporting::write(*run, *format);
    if (!written)
      return tl::unexpected(written.error());
    bytes = *std::move(written);
  }
  const auto kept =
      options.output.empty() ? print(bytes) : storage::write_file_whole(bytes, options.output);
  if (!kept)
    return tl::unexpected(kept.error());
  fmt::print(stderr, "{}", notes_text(*recording));
  return 0;
}

}  // namespace

void add_export(CLI::App& app, Chosen& chosen) {
  CLI::App* const command =
      app.add_subcommand("export", "Write a recording, or a simulated run, for other tools");
  const auto options = std::make_shared<ExportOptions>();
  command->add_option("FILE", options->file, "A .lptrace, .prog or .rec file")->required();
  command
      ->add_option("--format", options->format,
                   "perfetto: a timeline for ui.perfetto.dev; pprof: a profile by call\n"
                   "path for pprof; speedscope: flame charts for speedscope.app")
      ->type_name("NAME")
      ->required();
  command
      ->add_option("--cpus", options->cpus,
                   "Simulate the run on so many CPUs; without it, as it was recorded")
      ->type_name("N");
  command->add_option("-o,--output", options->output, "Write it there, not to standard output")
      ->type_name("FILE");
  add_computer_options(*command, options->computer);
  command->footer(
      "Examples:\n"
      "  longpole export program.lptrace --format perfetto -o program.perfetto-trace\n"
      "  longpole export program.lptrace --format perfetto --cpus 8 -o on-8-cpus.perfetto-trace\n"
      "  longpole export program.lptrace --format pprof --cpus 8 --scheduler shared > on-8.pb.gz\n"
      "  longpole export program.lptrace --format speedscope > program.speedscope.json\n\n"
      "Of a simulated run pprof also gets the critical time, what each call path is worth to the\n"
      "whole program: `pprof -sample_index=critical on-8.pb.gz`. Of a recorded run nobody knows "
      "when\n"
      "between two calls a thread had the CPU: it is drawn before the later call. Where samples "
      "are\n"
      "few, flame charts place each call path for its share of the time, not at its moments.");
  command->callback(
      [options, &chosen] { chosen.run = [options] { return export_run(*options); }; });
}

}  // namespace longpole::cli
