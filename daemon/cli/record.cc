#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/confidence.h"
#include "analysis/cpu_time_on.h"
#include "analysis/validation.h"
#include "calibration/host_costs.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/json_document.h"
#include "cli/progress_line.h"
#include "cli/real_runs.h"
#include "cli/recorded_run.h"
#include "cli/text_table.h"
#include "recording/check_program.h"
#include "recording/lockstep_advice.h"
#include "recording/measured_run.h"
#include "recording/stop_signals.h"
#include "simulation/machine.h"
#include "storage/load.h"

namespace longpole::cli {
namespace {

namespace fs = std::filesystem;

struct RecordOptions {
  std::string cpus = "1";
  std::string as_cpus;
  std::string lockstep;
  std::string turns;
  std::string functions = "sampled";
  std::string depth;  // empty: default_depth
  std::string rate;
  std::string source = "auto";
  bool follow = false;
  std::string output;
  std::string status;
  std::vector<std::string> command;
};

constexpr std::uint32_t default_depth = 64;

struct Request {
  recording::Options recording;
  bool only_kernel = false;
  std::uint32_t turns = 0;  // rounds of runs that take turns; 0: none
  fs::path output;
  fs::path status;  // empty: nobody wants to know
};

// What an editor that runs us in its terminal reads while we run: a line of JSON for each thing that is new.
// That it can be written no more is no reason to end a recording.
class StatusFile {
 public:
  [[nodiscard]] Expected<void> open(const fs::path& path) {
    file_.open(path, std::ios::trunc);
    if (!file_)
      return bad_input(fmt::format("--status {}", path.string()), std::strerror(errno),
                       "name a file that can be written");
    return {};
  }
  void write(const Json& line) { file_ << json_text(line) << std::flush; }
  // The recording, or why there is none: whatever comes first.
  void write_result(const Json& line) {
    if (!std::exchange(has_result_, true))
      write(line);
  }

 private:
  std::ofstream file_;
  bool has_result_ = false;
};

Expected<Request> request_of(const RecordOptions& options) {
  Request out;
  if (options.command.empty() || options.command.front().empty())
    return bad_input("cannot record", "no program is named",
                     "name one behind the options: longpole record -- ./program its arguments");
  if (options.cpus != "1" && options.cpus != "all")
    return bad_input(fmt::format("--cpus {}", options.cpus),
                     "a program is recorded on 1 CPU or all",
                     "give 1 or all; the number to simulate is for `longpole simulate`");
  out.recording.cpus = options.cpus == "1" ? recording::Cpus::one : recording::Cpus::all;
  if (!options.as_cpus.empty()) {
    const auto count = parse_number("--as-cpus", options.as_cpus, 1, most_cpus);
    if (!count)
      return tl::unexpected(count.error());
    out.recording.as_cpus = *count;
  }
  if (!options.lockstep.empty()) {
    const auto count =
        parse_number("--lockstep", options.lockstep, 1, recording::max_lockstep_cpus);
    if (!count)
      return tl::unexpected(count.error());
    if (options.source == "kernel")
      return bad_input("--lockstep with --source kernel",
                       "in lockstep the portable clocks are exact", "leave out --source");
    out.recording.lockstep = *count;
  }
  const bool exact = options.functions == "exact";
  if (!exact && options.functions != "sampled")
    return bad_input(fmt::format("--functions {}", options.functions), "there is no such way",
                     "give sampled or exact");
  if (exact)
    out.recording.function_depth = default_depth;
  if (!options.depth.empty()) {
    const auto depth = parse_number("--depth", options.depth, 1, recording::max_function_depth);
    if (!depth)
      return tl::unexpected(depth.error());
    if (!exact)
      return bad_input(fmt::format("--depth {}", options.depth),
                       "samples have all functions that are inside each other",
                       "add --functions exact, or leave it out");
    out.recording.function_depth = *depth;
  }
  if (!options.rate.empty()) {
    const auto rate = parse_number("--rate", options.rate, 1, recording::max_rate_hz);
    if (!rate)
      return tl::unexpected(rate.error());
    out.recording.rate_hz = *rate;
  }
  if (options.source != "auto" && options.source != "kernel" && options.source != "portable")
    return bad_input(fmt::format("--source {}", options.source), "there is no such source",
                     "give kernel, portable or auto");
  out.only_kernel = options.source == "kernel";
  if (options.source == "portable")
    out.recording.source = recording::SourceChoice::portable;
  if (options.follow && out.recording.lockstep != 0)
    return bad_input("--follow with --lockstep",
                     "in lockstep only the threads of one process advance together",
                     "leave out --follow, or record that process directly");
  out.recording.follow = options.follow;
  if (!options.turns.empty()) {
    const auto rounds = parse_number("--turns", options.turns, 1, most_rounds);
    if (!rounds)
      return tl::unexpected(rounds.error());
    if (out.recording.cpus != recording::Cpus::one || out.recording.lockstep != 0)
      return bad_input(fmt::format("--turns {}", options.turns),
                       out.recording.lockstep != 0
                           ? "in lockstep threads take turns in their own way"
                           : "on all CPUs nobody knows who took turns with whom",
                       "leave it out, or record on one CPU");
    out.turns = *rounds;
  }
  out.recording.program = options.command.front();
  out.recording.arguments.assign(options.command.begin() + 1, options.command.end());
  out.output = options.output.empty()
                   ? fs::path(out.recording.program).filename().string() + ".lptrace"
                   : options.output;
  out.status = options.status;
  if (const auto writable = check_output(out.output); !writable)
    return tl::unexpected(writable.error());
  return out;
}

void measure_costs(Recording& recording, const Request& request) {
  std::optional<ProgressLine> progress;
  if (request.status.empty())
    progress.emplace("writing");
  calibration::put_into(recording, calibration::host_costs([&] {
                          if (progress)
                            progress->set("measuring this machine");
                        }));
}

// The recordings of processes that the program started, written as they come, beside its own.
class Children {
 public:
  explicit Children(const Request& request) : request_(request) {}

  void add(recording::ChildRecording child) {
    Row row{child.pid, child.program, {}, 0, 0, {}};
    Expected<void> saved;
    if (child.recording) {
      measure_costs(*child.recording, request_);
      row.file = file_of(child.pid);
      row.threads = child.recording->threads.size();
      row.events = child.recording->event_count();
      row.took = child.recording->run.elapsed;
      saved = storage::save_recording(*child.recording, row.file);
    } else {
      saved = tl::unexpected(child.recording.error());
    }
    if (saved)
      rows_.push_back(std::move(row));
    else if (first_error_)
      first_error_ = saved;
  }

  // Of what could not be read or written.
  [[nodiscard]] const Expected<void>& first_error() const { return first_error_; }

  [[nodiscard]] Json json() const {
    Json list = Json::array();
    for (const Row& row : rows_)
      list.push_back({{"pid", row.pid},
                      {"program", row.program},
                      {"threads", row.threads},
                      {"events", row.events},
                      {"elapsed_ns", row.took.count()},
                      {"recording", row.file.string()}});
    return list;
  }

  [[nodiscard]] std::string text() const {
    TextTable table({{"process"},
                     {"threads"},
                     {"events"},
                     {"time"},
                     {"program", TextTable::Align::left},
                     {"recording", TextTable::Align::left}});
    for (const Row& row : rows_)
      table.add({std::to_string(row.pid), std::to_string(row.threads), std::to_string(row.events),
                 duration_text(row.took), printable(fs::path(row.program).filename().string()),
                 row.file.string()});
    return rows_.empty() ? "longpole: it started no process that could be recorded; one that "
                           "outlives it, as a daemon does, cannot\n"
                         : fmt::format("longpole: and {} of what it started or became:\n{}",
                                       count_text(rows_.size(), "recording"), table.text(0));
  }

 private:
  struct Row {
    pid_t pid;
    std::string program;
    fs::path file;
    std::size_t threads;
    std::uint64_t events;
    Nanoseconds took;
  };

  // run.lptrace → run.PID.lptrace; a process that becomes another program keeps its id.
  fs::path file_of(pid_t pid) {
    const fs::path& first = request_.output;
    const fs::path stem =
        first.extension() == ".lptrace" ? fs::path(first).replace_extension() : first;
    const std::size_t before = times_[pid]++;
    return fmt::format("{}.{}{}.lptrace", stem.string(), pid,
                       before == 0 ? "" : fmt::format("-{}", before + 1));
  }

  const Request& request_;
  std::map<pid_t, std::size_t> times_;
  std::vector<Row> rows_;
  Expected<void> first_error_;
};

Expected<Recording> run(const Request& request, StatusFile& status, Children& children) {
  // Whoever reads the status shows the progress, and better than in the program's own output.
  std::optional<ProgressLine> progress;
  if (request.status.empty())
    progress.emplace("recording");
  recording::Observer observer;
  observer.progress = [&](const recording::Progress& now) {
    const bool running = now.phase <= recording::Phase::running;
    const char* const doing = running ? "recording" : recording::phase_name(now.phase);
    if (progress)
      progress->set(running ? fmt::format("{}, {}", doing, count_text(now.events, "record"))
                            : doing);
    status.write({{"doing", doing}, {"events", now.events}});
  };
  observer.child = [&](recording::ChildRecording child) { children.add(std::move(child)); };
  return run_recorded(request.recording, recording::Output::inherited, std::move(observer));
}

std::string summary(const Recording& recording, const Request& request, const Children& children) {
  std::string out = notices_text(recording);
  const RunInfo& run = recording.run;
  for (const Notice& doubt : analysis::doubts_of(recording))
    if (doubt.code == "caches")
      out += notes_text({doubt.text});
  // That a signal ended it is a notice of the recording already.
  if (run.exit_status && *run.exit_status != 0)
    out += fmt::format("note: the program ended with exit status {}\n", *run.exit_status);
  // Where it is matters to the one who reads the status, and may not stay so.
  out += fmt::format("longpole: recorded {} of {} in {}{}\n",
                     count_text(recording.event_count(), "event"),
                     count_text(recording.threads.size(), "thread"), duration_text(run.elapsed),
                     request.status.empty() ? " → " + printable(request.output.string()) : "");
  return request.recording.follow ? out + children.text() : out;
}

// What turns on one CPU say of its CPU time on several, into the recording.
Expected<void> measure_turns(Recording& recording, const Request& request, StatusFile& status) {
  const std::string& name = request.recording.program;
  if (!recording.run.exit_status)
    return failure(fmt::format("cannot run {} again", name),
                   "its recorded run was ended before its end");
  if (std::ranges::any_of(recording.notices, recording::says_that_it_spins))
    return failure(fmt::format("cannot run {} in other turns", name),
                   "its threads spin or yield in loops, and would do so as long as others have "
                   "the CPU",
                   "record with --lockstep in place of --turns");
  const auto program = recording::check_program(name, {}, recording::own_search_path());
  if (!program)
    return tl::unexpected(program.error());
  const std::uint32_t threads = analysis::RulesOfThumb::of(recording).threads_at_once();
  std::optional<ProgressLine> progress;
  if (request.status.empty())
    progress.emplace("running it as it is");
  const recording::StopSignals signals;
  const auto measured = run_for_real(
      program->path, request.recording.arguments, recording::usable_cpus_cores_first(), {1},
      analysis::cpu_counts_to_try(threads, threads), {request.turns, request.turns},
      *recording.run.exit_status, [&](const std::string& doing) {
        if (progress)
          progress->set(doing);
        status.write({{"doing", doing}});
      });
  progress.reset();
  // What was recorded is to be kept, and told of.
  recording::StopSignals::take();
  if (!measured)
    return tl::unexpected(measured.error());
  if (measured->no_copies)
    recording.notices.push_back(*measured->no_copies);
  recording.run.cpu_time_on =
      analysis::cpu_time_on(measured->in_turns, measured->by_cpus.at(1), threads);
  return {};
}

// Where they say nothing, the recording says why.
Expected<void> try_turns(Recording& recording, const Request& request, StatusFile& status) {
  const auto measured = measure_turns(recording, request, status);
  if (!measured)
    recording.notices.push_back(
        {"turns-failed",
         fmt::format("How much CPU time it takes on several CPUs was not found out: {}.",
                     measured.error().why),
         0});
  else if (recording.run.cpu_time_on.empty())
    recording.notices.push_back(
        {"turns-alike", "It takes as much CPU time however its threads take turns.", 0});
  const auto saved = storage::save_recording(recording, request.output);
  return measured ? saved : measured;
}

Expected<int> record(const Request& request, StatusFile& status) {
  Children children(request);
  auto recording = run(request, status, children);
  if (!recording)
    return tl::unexpected(recording.error());
  measure_costs(*recording, request);
  if (const auto saved = storage::save_recording(*recording, request.output); !saved)
    return tl::unexpected(saved.error());
  Expected<void> tried;
  if (request.turns != 0)
    tried = try_turns(*recording, request, status);
  Json done = {{"recording", request.output.string()}};
  if (request.recording.follow)
    done["children"] = children.json();
  status.write_result(done);
  fmt::print(stderr, "{}", summary(*recording, request, children));
  if (!tried)
    return tl::unexpected(tried.error());
  if (!children.first_error())
    return tl::unexpected(children.first_error().error());
  if (request.only_kernel && recording->run.source != Source::kernel)
    return failure("--source kernel",
                   "the kernel's events were refused, so the recording has the "
                   "portable source",
                   "allow them as the note above says, or use --source auto");
  return 0;
}

Expected<int> record(const RecordOptions& options) {
  StatusFile status;
  if (!options.status.empty()) {
    if (const auto opened = status.open(options.status); !opened)
      return tl::unexpected(opened.error());
  }
  const auto request = request_of(options);
  auto result = request ? record(*request, status) : tl::unexpected(request.error());
  if (!result)
    status.write_result({{"error", result.error().text()}});
  return result;
}

}  // namespace

void add_record(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand("record", "Run a program once and record it");
  const auto options = std::make_shared<RecordOptions>();
  command->add_option("--cpus", options->cpus, "Let it run on 1 CPU (the default) or on all")
      ->type_name("1|all");
  command
      ->add_option("--as-cpus", options->as_cpus,
                   "The number of CPUs to tell the program; without it, the machine's")
      ->type_name("N");
  command
      ->add_option(
          "--lockstep", options->lockstep,
          "Let its threads advance together, on one CPU, as they would on N: for programs\n"
          "whose threads spin, yield in loops, or take work from each other")
      ->type_name("N");
  command
      ->add_option(
          "--turns", options->turns,
          "Run it again afterwards, on one CPU and without recording, in N rounds of some runs\n"
          "each, in which its threads take turns as ever, hardly at all, and, beside copies of\n"
          "it on the other CPUs, as on several CPUs: for programs that need more than a CPU's\n"
          "caches, or much memory. Simulations of several CPUs count the CPU time that this\n"
          "says they take there. It must do the same work each time, with as many threads on\n"
          "one CPU as on all, also beside copies, which write to the same files; it gets nothing\n"
          "to read, and its output is thrown away. From 4 on no run decides anything by itself")
      ->type_name("N");
  command
      ->add_option(
          "--functions", options->functions,
          "How functions are found: by samples (the default), or by every entry and exit,\n"
          "which counts calls and needs a program compiled with -finstrument-functions")
      ->type_name("sampled|exact");
  command
      ->add_option("--depth", options->depth,
                   "With --functions exact: how many functions inside each other are told apart;\n"
                   "without it, 64")
      ->type_name("N");
  command
      ->add_option("--rate", options->rate,
                   "Samples per second of CPU time; without it, 1000, or as many as cost half a\n"
                   "percent of it where a sample takes long, as in many virtual machines. The\n"
                   "portable source has one a tick of the kernel at most, 250 as a rule")
      ->type_name("HZ");
  command
      ->add_option("--source", options->source,
                   "Where CPU times come from: the kernel's perf events or portable clocks;\n"
                   "auto (the default) takes the kernel's where they are allowed")
      ->type_name("auto|kernel|portable");
  command->add_flag(
      "--follow", options->follow,
      "Record the processes that it starts, and the programs that it or they become,\n"
      "each in a file of its own: PROGRAM.PID.lptrace");
  command
      ->add_option("-o,--output", options->output,
                   "The recording file; without it, PROGRAM.lptrace in the current folder")
      ->type_name("FILE");
  command
      ->add_option(
          "--status", options->status,
          "Write a line of JSON to FILE for each thing that is new, and show no progress: for\n"
          "programs that run longpole")
      ->type_name("FILE");
  // For the help text: main() takes the program out before the options are parsed.
  command->add_option("PROGRAM", options->command, "The program and its arguments")
      ->type_name("[ARGS...]");
  command->footer(
      "The program has the terminal as if it were run alone, Ctrl-C included; Ctrl-\\ ends it,\n"
      "and what was recorded is kept. The exit status is 0 once there is a recording, whatever\n"
      "the program's own.\n\n"
      "Examples:\n"
      "  longpole record -- ./program its arguments\n"
      "  longpole record -o run.lptrace -- pigz -p 4 -k big-file");
  command->callback([options, &chosen] {
    options->command = chosen.program;
    chosen.run = [options] { return record(*options); };
  });
}

}  // namespace longpole::cli
