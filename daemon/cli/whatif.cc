#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/what_if.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/json_document.h"
#include "cli/progress_line.h"
#include "cli/text_table.h"
#include "storage/load.h"

namespace longpole::cli {
namespace {

struct WhatIfOptions {
  std::string file;
  std::string cpus;  // empty: the machine's count
  std::string scheduler = "shared";
  std::vector<std::string> speeds;
  std::vector<std::string> splits;
  std::vector<std::string> freed;
  std::string output;
  bool with_callees = false;
  bool json = false;
};

constexpr int curve_step = 10;

// One answer: what comes of the changes on a number of CPUs.
struct Answer {
  std::optional<int> percent;  // on a curve
  analysis::Prediction before;
  analysis::Prediction after;
  [[nodiscard]] double saved() const {
    return before.total_ns > 0 ? (before.total_ns - after.total_ns) / before.total_ns : 0;
  }
};

// "30" and "12.5" of a hundred.
std::optional<std::int64_t> parse_percent(const std::string& text) {
  double percent = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), percent, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  if (!std::isfinite(percent) || percent < 0 || percent > 100)
    return -1;
  return std::llround(percent / 100 * static_cast<double>(analysis::whole));
}

// What the options ask for, with the parts of a curve still at nothing.
struct Request {
  analysis::Changes changes;
  std::vector<std::size_t> on_curve;  // of changes.speeds
};

Expected<void> read_speed(const std::string& text, const Recording& recording, bool with_callees,
                          Request& request) {
  // The last sign: there are functions called operator==.
  const std::size_t sign = text.rfind('=');
  const bool has_percent =
      sign != std::string::npos && sign > 0 &&
      (text[sign - 1] != '=' || parse_percent(text.substr(sign + 1)).has_value());
  const std::string name = has_percent ? text.substr(0, sign) : text;
  auto part = analysis::find_part(recording, name, with_callees);
  if (!part)
    return tl::unexpected(part.error());
  if (!has_percent) {
    request.on_curve.push_back(request.changes.speeds.size());
    request.changes.speeds.push_back({*std::move(part), 0});
    return {};
  }
  const auto less = parse_percent(text.substr(sign + 1));
  if (!less || *less < 0)
    return bad_input("--speed " + text,
                     fmt::format("\"{}\" is not a percentage from 0 to 100", text.substr(sign + 1)),
                     "give how much less time it takes, as in merge=30");
  request.changes.speeds.push_back({*std::move(part), *less});
  return {};
}

Expected<void> read_split(const std::string& text, const Recording& recording, Request& request) {
  const std::size_t sign = text.rfind('=');
  if (sign == std::string::npos)
    return bad_input("--split " + text, "it does not say into how many",
                     "give the lock and a number, as in --split M=4");
  const auto into = parse_number("--split " + text.substr(0, sign), text.substr(sign + 1), 1,
                                 analysis::most_parts_of_a_lock);
  if (!into)
    return tl::unexpected(into.error());
  const auto lock = analysis::find_lock(recording, text.substr(0, sign));
  if (!lock)
    return tl::unexpected(lock.error());
  request.changes.splits.push_back({*lock, *into});
  return {};
}

Expected<Request> read_request(const WhatIfOptions& options, const Recording& recording) {
  Request request;
  for (const std::string& text : options.speeds) {
    if (const auto read = read_speed(text, recording, options.with_callees, request); !read)
      return tl::unexpected(read.error());
  }
  for (const std::string& text : options.splits) {
    if (const auto read = read_split(text, recording, request); !read)
      return tl::unexpected(read.error());
  }
  for (const std::string& name : options.freed) {
    const auto object = analysis::find_object(recording, name);
    if (!object)
      return tl::unexpected(object.error());
    request.changes.freed.push_back(*object);
  }
  return request;
}

// Each point of the curve, or the one point, on all CPU counts.
Expected<std::vector<Answer>> answer(const analysis::Study& study, Request request,
                                     const std::vector<std::uint32_t>& cpus,
                                     analysis::Scheduler scheduler) {
  std::vector<Answer> runs;
  const int last = request.on_curve.empty() ? 0 : 100;
  for (int percent = 0; percent <= last; percent += curve_step) {
    for (const std::size_t speed : request.on_curve)
      request.changes.speeds[speed].less = analysis::whole / 100 * percent;
    const auto changed = analysis::WhatIf::of(study.recording(), request.changes);
    if (!changed)
      return tl::unexpected(changed.error());
    for (const std::uint32_t count : cpus)
      runs.push_back({request.on_curve.empty() ? std::nullopt : std::optional(percent),
                      study.predict(count, scheduler), changed->predict(count, scheduler)});
  }
  return runs;
}

std::string json_of(const Recording& recording, const std::vector<Answer>& runs) {
  Json rows = Json::array();
  for (const Answer& run : runs) {
    const bool completes = !run.after.deadlock;
    rows.push_back({{"cpus", run.after.cpus},
                    {"scheduler", analysis::scheduler_name(run.after.scheduler)},
                    {"percent", run.percent ? Json(*run.percent) : Json(nullptr)},
                    {"before_ns", number(run.before.total_ns)},
                    {"total_ns", completes ? number(run.after.total_ns) : Json(nullptr)},
                    {"saved", completes ? fraction(run.saved()) : Json(nullptr)},
                    {"speedup", completes ? number(run.after.speedup) : Json(nullptr)}});
  }
  return json_text({{"runs", std::move(rows)}, {"notes", notes_of(recording)}});
}

std::string text_of(const Recording& recording, const std::vector<Answer>& runs,
                    const WhatIfOptions& options) {
  const bool curve = runs.front().percent.has_value();
  std::vector<TextTable::Column> columns;
  if (curve)
    columns.push_back({"less"});
  columns.insert(columns.end(), {{"CPUs"}, {"as it is"}, {"changed"}, {"saved"}});
  TextTable table(std::move(columns));
  for (const Answer& run : runs) {
    std::vector<std::string> cells = {count_text(run.after.cpus),
                                      duration_text(run.before.total_ns)};
    if (run.after.deadlock)
      cells.insert(cells.end(), {"deadlock", "–"});
    else
      cells.insert(cells.end(), {duration_text(run.after.total_ns), percent_text(run.saved())});
    if (curve)
      cells.insert(cells.begin(), fmt::format("{}%", *run.percent));
    table.add(std::move(cells));
  }
  const std::string notes = notes_text(recording);
  return fmt::format("{}, changed (scheduler {})\n\n{}{}{}",
                     printable(program_name(recording, options.file)), options.scheduler,
                     table.text(terminal_width()), notes.empty() ? "" : "\n", notes);
}

Expected<int> what_if(const WhatIfOptions& options) {
  if (options.speeds.empty() && options.splits.empty() && options.freed.empty())
    return bad_input("cannot predict", "nothing is to be changed",
                     "say what, as in --speed merge=30");
  const auto scheduler = parse_scheduler(options.scheduler);
  if (!scheduler)
    return tl::unexpected(scheduler.error());
  Expected<std::vector<std::uint32_t>> cpus;
  if (!options.cpus.empty())
    cpus = parse_cpu_list(options.cpus);
  if (!cpus)
    return tl::unexpected(cpus.error());
  const auto study = open_study(options.file);
  if (!study)
    return tl::unexpected(study.error());
  const Recording& recording = (*study)->recording();
  if (const auto& deadlock = (*study)->ideal().deadlock)
    return tl::unexpected(deadlock_error(recording, *deadlock, options.file));
  if (cpus->empty())
    cpus->push_back(recording.run.machine_cpus);
  const auto request = read_request(options, recording);
  if (!request)
    return tl::unexpected(request.error());
  if (!options.output.empty() && !request->on_curve.empty())
    return bad_input("--output " + options.output, "a curve is of many programs, not of one",
                     "give each --speed its percentage");

  Expected<std::vector<Answer>> runs;
  {
    const ProgressLine progress("simulating");
    runs = answer(**study, *request, *cpus, *scheduler);
  }
  if (!runs)
    return tl::unexpected(runs.error());
  if (!options.output.empty()) {
    const auto program = analysis::changed(recording, request->changes);
    if (!program)
      return tl::unexpected(program.error());
    if (const auto saved = storage::save_recording(*program, options.output); !saved)
      return tl::unexpected(saved.error());
  }
  if (const auto printed =
          print(options.json ? json_of(recording, *runs) : text_of(recording, *runs, options));
      !printed)
    return tl::unexpected(printed.error());
  if (options.json)
    fmt::print(stderr, "{}", notes_text(recording));
  return 0;
}

}  // namespace

void add_what_if(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand(
      "whatif", "Predict how long the program would take if parts of it were faster");
  const auto options = std::make_shared<WhatIfOptions>();
  command->add_option("FILE", options->file, "A .lptrace, .prog or .rec file")->required();
  command
      ->add_option("--cpus", options->cpus,
                   "Numbers of CPUs, as in 1,2,4 or 1-8; without it, that of the\n"
                   "machine that recorded")
      ->type_name("LIST");
  const auto many = [&](const char* name, std::vector<std::string>& values, const char* type,
                        const char* help) {
    command->add_option(name, values, help)
        ->type_name(type)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  };
  many("--speed", options->speeds, "PART=PERCENT",
       "PART takes so much less time: a function, FILE:LINE, thread:NAME\n"
       "or lock:NAME (what is done while it is held). Without =PERCENT:\n"
       "a curve from 0 to 100%");
  many("--split", options->splits, "LOCK=N", "N locks take turns in the place of LOCK");
  many("--free", options->freed, "OBJECT",
       "Nobody ever waits for this lock, semaphore, condition, barrier or device");
  command->add_flag("--with-callees", options->with_callees,
                    "A function gets faster together with all that it calls");
  command
      ->add_option("--scheduler", options->scheduler,
                   "shared (the default): threads share the CPUs evenly; ideal: a CPU\n"
                   "for each thread")
      ->type_name("NAME");
  command
      ->add_option("-o,--output", options->output,
                   "Write the changed program there, for `longpole report` to look at")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print one JSON document");
  command->footer(
      "Examples:\n"
      "  longpole whatif program.lptrace --cpus 8 --speed merge=30\n"
      "  longpole whatif program.lptrace --cpus 2-8 --speed sorter.c:113=20 --split list_lock=7\n"
      "  longpole whatif program.lptrace --cpus 8 --speed merge\n\n"
      "--speed, --split and --free may be given several times; all changes are made at once.");
  command->callback([options, &chosen] { chosen.run = [options] { return what_if(*options); }; });
}

}  // namespace longpole::cli
