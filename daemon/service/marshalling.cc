#include "service/marshalling.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/locale/utf.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/call_tree.h"
#include "analysis/confidence.h"
#include "service/limits.h"
#include "trace/event_forms.h"

namespace longpole::service {
namespace {

using analysis::FunctionRow;
using analysis::LineRow;

// A status travels in a header, and clients refuse long ones.
constexpr std::size_t max_message_bytes = 2000;

grpc::StatusCode code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case ErrorKind::not_found:
      return grpc::StatusCode::NOT_FOUND;
    case ErrorKind::limit:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case ErrorKind::failure:
      return grpc::StatusCode::FAILED_PRECONDITION;
  }
  return grpc::StatusCode::UNKNOWN;
}

const char* source_name(Source source) {
  switch (source) {
    case Source::program:
      return "program";
    case Source::text:
      return "text";
    case Source::kernel:
      return "kernel";
    case Source::portable:
      return "portable";
  }
  return "";
}

// The modules that hold code of a file, inlined or not, as far as the recording saw it run.
std::map<FileId, std::set<ModuleId>> modules_by_file(const Recording& recording) {
  std::map<FileId, std::set<ModuleId>> modules;
  for (const Stack& stack : recording.stacks) {
    const ModuleId module = recording.functions[stack.function.index()].module;
    if (stack.file.known() && module.known())
      modules[stack.file].insert(module);
  }
  return modules;
}

}  // namespace

std::string to_utf8(std::string_view bytes) {
  using Traits = boost::locale::utf::utf_traits<char>;
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  std::string text;
  text.reserve(bytes.size());
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    const char* const start = at;
    if (boost::locale::utf::is_valid_codepoint(Traits::decode(at, end))) {
      text.append(start, at);
    } else {
      text += replacement;
      at = start + 1;
    }
  }
  return text;
}

std::string function_name(const Recording& recording, FunctionId id) {
  return id.known() ? to_utf8(recording.functions[id.index()].name) : std::string();
}

std::string file_path(const Recording& recording, FileId id) {
  return id.known() ? to_utf8(recording.files[id.index()].path) : std::string();
}

grpc::Status to_status(const Error& error) {
  std::string text = to_utf8(error.text());
  if (text.size() > max_message_bytes) {
    text = to_utf8(std::string_view(text).substr(0, max_message_bytes));
    text += " …";
  }
  return {code_of(error.kind), text};
}

Expected<std::vector<std::uint32_t>> read_cpu_counts(
    const google::protobuf::RepeatedField<std::uint32_t>& cpus) {
  const std::string what = "cannot answer for these CPU counts";
  if (cpus.empty())
    return bad_input(what, "none is given", "ask for at least one");
  if (static_cast<std::size_t>(cpus.size()) > max_cpu_counts)
    return over_limit(what,
                      fmt::format("there are {}, and a request has at most {} (max_cpu_counts)",
                                  cpus.size(), max_cpu_counts),
                      "ask in several requests");
  for (const std::uint32_t count : cpus) {
    if (count < 1 || count > max_cpus)
      return bad_input(what, fmt::format("{} is not between 1 and {} (max_cpus)", count, max_cpus));
  }
  return std::vector<std::uint32_t>(cpus.begin(), cpus.end());
}

Expected<std::uint32_t> read_cpu_count(std::uint32_t cpus) {
  if (cpus < 1 || cpus > max_cpus)
    return bad_input("cannot answer for this CPU count",
                     fmt::format("{} is not between 1 and {} (max_cpus)", cpus, max_cpus));
  return cpus;
}

Expected<std::size_t> read_row_count(std::uint32_t rows) {
  constexpr std::size_t usual = 100;
  if (rows > max_rows)
    return over_limit(fmt::format("cannot send {} rows", rows),
                      fmt::format("an answer has at most {} (max_rows)", max_rows),
                      "ask for fewer");
  return rows == 0 ? usual : rows;
}

Expected<analysis::Scheduler> read_scheduler(const std::string& name) {
  if (name.empty())
    return analysis::Scheduler::shared;
  for (const auto scheduler : {analysis::Scheduler::ideal, analysis::Scheduler::shared}) {
    if (name == analysis::scheduler_name(scheduler))
      return scheduler;
  }
  return bad_input(fmt::format("cannot simulate under the scheduler '{}'", name),
                   "there is no such scheduler", "the schedulers are ideal and shared");
}

Expected<RunRequest> read_record_request(const v1::RecordRequest& request) {
  const std::string what =
      "cannot record " + (request.program().empty() ? "a program" : request.program());
  if (request.program().empty())
    return bad_input(what, "none is named");
  // The system ends every one of these at a zero byte, and would run something else.
  const auto has_zero = [](const std::string& text) {
    return text.find('\0') != std::string::npos;
  };
  bool zero = has_zero(request.program()) || has_zero(request.directory()) ||
              has_zero(request.output_path());
  for (const std::string& argument : request.arguments())
    zero = zero || has_zero(argument);
  RunRequest read;
  for (const auto& [name, value] : request.environment()) {
    if (name.empty() || name.find('=') != std::string::npos)
      return bad_input(what, fmt::format("'{}' cannot name an environment variable", name));
    zero = zero || has_zero(name) || has_zero(value);
    read.options.environment[name] = value;
  }
  if (zero)
    return bad_input(what, "there is a zero byte in its name, arguments, environment or paths");
  if (request.as_cpus() > max_cpus)
    return bad_input(what, fmt::format("it cannot be told that there are {} CPUs: {} is the most "
                                       "(max_cpus)",
                                       request.as_cpus(), max_cpus));
  read.options.program = request.program();
  read.options.arguments.assign(request.arguments().begin(), request.arguments().end());
  read.options.directory = request.directory();
  read.options.cpus = request.all_cpus() ? recording::Cpus::all : recording::Cpus::one;
  read.options.as_cpus = request.as_cpus();
  read.options.rate_hz = request.rate_hz();
  read.output = request.output_path();
  return read;
}

Expected<FileChoice> read_file(const OpenRecording& recording, const std::string& path) {
  FileChoice choice;
  choice.all = path.empty();
  if (choice.all)
    return choice;
  for (const FileId id : recording.files()) {
    if (file_path(recording.recording(), id) == path)
      choice.files.push_back(id);
  }
  if (choice.files.empty())
    return not_found("cannot show the lines of " + path,
                     "the recording has no line of the program in that file",
                     "Recording.files names those that have");
  return choice;
}

void write_recording(std::uint64_t handle, const OpenRecording& opened, v1::Recording& message) {
  const Recording& recording = opened.recording();
  const RunInfo& run = recording.run;
  message.set_handle(handle);
  for (const std::string& word : run.command)
    message.add_command(to_utf8(word));
  message.set_directory(to_utf8(run.directory));
  message.set_started_at_unix_ns(run.started_at_unix_ns);
  message.set_elapsed_ns(run.elapsed.count());
  message.set_cpu_time_ns(run.cpu_time.count());
  message.set_source(source_name(run.source));
  message.set_events(recording.event_count());
  message.set_samples(run.samples);
  message.set_sample_hz(run.sample_hz);
  message.set_threads(static_cast<std::uint32_t>(recording.threads.size()));
  message.set_machine_cpus(run.machine_cpus);
  message.set_packed_use_ns(run.costs.packed_use.count());
  message.set_complete(run.complete);
  if (run.exit_status)
    message.set_exit_status(*run.exit_status);
  if (run.exit_signal)
    message.set_exit_signal(*run.exit_signal);
  std::vector<Notice> notices = recording.notices;
  for (Notice& doubt : analysis::doubts_of(recording))
    notices.push_back(std::move(doubt));
  for (const Notice& notice : notices) {
    v1::Notice& row = *message.add_notices();
    row.set_code(to_utf8(notice.code));
    row.set_text(to_utf8(notice.text));
    row.set_count(notice.count);
  }
  std::map<FileId, std::set<ModuleId>> modules = modules_by_file(recording);
  for (const FileId id : opened.files()) {
    v1::SourceFile& row = *message.add_files();
    row.set_path(file_path(recording, id));
    row.set_sha256(to_utf8(recording.files[id.index()].sha256));
    for (const ModuleId module : modules[id])
      row.add_modules(to_utf8(recording.modules[module.index()].path));
  }
}

void write_prediction(std::uint32_t cpus, const analysis::Forecast& forecast, double on_one_cpu_ns,
                      const Recording& recording, v1::Prediction& message) {
  message.set_cpus(cpus);
  message.set_total_ns(forecast.total_ns);
  message.set_speedup(forecast.total_ns > 0 ? on_one_cpu_ns / forecast.total_ns : 1);
  message.set_model(std::string(name_of(forecast.model)));
  if (forecast.deadlock)
    write_deadlock(*forecast.deadlock, recording, *message.mutable_deadlock());
}

void write_deadlock(const simulation::Deadlock& deadlock, const Recording& recording,
                    v1::Deadlock& message) {
  message.set_at_ns(deadlock.at.count());
  for (const simulation::Blocked& blocked : deadlock.threads)
    message.add_threads(to_utf8(recording.threads[blocked.thread.index()].name));
}

void write_lines(std::span<const analysis::Table<LineRow>> tables, const FileChoice& choice,
                 const Recording& recording, v1::GetLinesResponse& message) {
  struct Joined {
    const LineRow* row = nullptr;  // of the first table that has it
    std::vector<double> critical_ns;
    std::vector<double> margin_ns;
    bool sampled = false;
  };
  std::map<std::tuple<FileId, std::uint32_t, FunctionId>, Joined> joined;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    message.add_total_ns(tables[i].total_ns);
    for (const LineRow& row : tables[i].rows) {
      if (!choice.all &&
          std::find(choice.files.begin(), choice.files.end(), row.file) == choice.files.end())
        continue;
      Joined& line = joined[{row.file, row.line, row.function}];
      if (line.row == nullptr) {
        line.row = &row;
        line.critical_ns.resize(tables.size());
        line.margin_ns.resize(tables.size());
      }
      line.critical_ns[i] = row.critical_ns;
      line.margin_ns[i] = row.margin_ns;
      line.sampled = line.sampled || row.margin_ns > 0;
    }
  }

  for (const auto& [key, line] : joined) {
    v1::Line& out = *message.add_lines();
    out.set_file(file_path(recording, line.row->file));
    out.set_line(line.row->line);
    out.set_function(function_name(recording, line.row->function));
    out.set_self_ns(line.row->self_ns);
    out.set_samples(line.row->samples);
    out.mutable_critical_ns()->Add(line.critical_ns.begin(), line.critical_ns.end());
    if (line.sampled)
      out.mutable_margin_ns()->Add(line.margin_ns.begin(), line.margin_ns.end());
  }
  const auto place = [](const v1::Line& line) {
    return std::tuple<std::string_view, std::uint32_t, std::string_view>(line.file(), line.line(),
                                                                         line.function());
  };
  std::stable_sort(message.mutable_lines()->begin(), message.mutable_lines()->end(),
                   [&](const v1::Line& a, const v1::Line& b) { return place(a) < place(b); });
}

void write_functions(std::span<const analysis::Table<FunctionRow>> tables,
                     const Recording& recording, v1::GetFunctionsResponse& message) {
  std::map<FunctionId, int> place;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    message.add_total_ns(tables[i].total_ns);
    message.add_waiting_ns(tables[i].waiting_ns);
    for (const FunctionRow& row : tables[i].rows) {
      const auto [at, is_new] = place.try_emplace(row.function, message.functions_size());
      if (is_new) {
        v1::Function& out = *message.add_functions();
        if (row.function.known()) {
          const Function& function = recording.functions[row.function.index()];
          out.set_name(to_utf8(function.name));
          out.set_file(file_path(recording, function.file));
          out.set_line(function.line);
          out.set_last_line(function.last_line);
          if (function.module.known())
            out.set_module(to_utf8(recording.modules[function.module.index()].path));
        }
        if (row.calls)
          out.set_calls(*row.calls);
        out.set_self_ns(row.self_ns);
        out.set_self_and_descendants_ns(row.total_ns);
        out.set_samples(row.samples);
        for (std::size_t count = 0; count < tables.size(); ++count)
          out.add_at();
      }
      v1::FunctionAt& out = *message.mutable_functions(at->second)->mutable_at(static_cast<int>(i));
      out.set_critical_self_ns(row.critical_self_ns);
      out.set_critical_total_ns(row.critical_total_ns);
      out.set_normalized_self_ns(row.normalized_self_ns);
      out.set_normalized_total_ns(row.normalized_total_ns);
      out.set_margin_ns(row.margin_ns);
      if (row.critical_calls)
        out.set_critical_calls(*row.critical_calls);
    }
  }
}

namespace {

void write_path(const analysis::PathTimes& times, v1::PathTimes& message) {
  using analysis::PathClass;
  const auto at = [&](PathClass kind) { return times.at(static_cast<std::size_t>(kind)); };
  message.set_cruise_ns(at(PathClass::cruise));
  message.set_overhead_ns(at(PathClass::overhead));
  message.set_blocking_ns(at(PathClass::blocking));
  message.set_impact_ns(at(PathClass::impact));
}

void write_place(const Recording& recording, const Stack& stack, v1::Place& message) {
  message.set_file(file_path(recording, stack.file));
  message.set_line(stack.line);
  message.set_function(function_name(recording, stack.function));
}

std::string object_kind(const Recording& recording, ObjectId id) {
  return std::string(object_kind_word(recording.objects[id.index()].kind));
}

void write_state(const analysis::QuartzTimes& times, analysis::ThreadState which,
                 const std::function<v1::QuartzState*()>& add) {
  const analysis::StateTime& state = times.states.at(static_cast<std::size_t>(which));
  if (state.time_ns == 0)
    return;
  v1::QuartzState& message = *add();
  message.set_time_ns(state.time_ns);
  message.set_average_runnable(state.average_runnable);
  message.mutable_at_runnable_ns()->Add(state.at_runnable.begin(), state.at_runnable.end());
}

void write_times(const analysis::QuartzTimes& times, v1::QuartzTimes& message) {
  message.set_normalized_ns(times.normalized_ns);
  auto last = times.terms_ns.end();
  while (last != times.terms_ns.begin() && *(last - 1) == 0)
    --last;
  message.mutable_terms_ns()->Add(times.terms_ns.begin(), last);
  using analysis::ThreadState;
  write_state(times, ThreadState::busy, [&] { return message.mutable_busy(); });
  write_state(times, ThreadState::spinning, [&] { return message.mutable_spinning(); });
  write_state(times, ThreadState::blocked, [&] { return message.mutable_blocked(); });
  write_state(times, ThreadState::ready, [&] { return message.mutable_ready(); });
}

void write_entity(const Recording& recording, const analysis::Entity& entity,
                  v1::QuartzRow& message) {
  switch (entity.kind) {
    case analysis::EntityKind::program:
      message.set_kind("program");
      break;
    case analysis::EntityKind::function: {
      const Function& function = recording.functions[entity.id];
      message.set_kind("function");
      message.set_name(to_utf8(function.name));
      message.set_file(file_path(recording, function.file));
      message.set_line(function.line);
      break;
    }
    case analysis::EntityKind::object:
      message.set_kind(object_kind(recording, ObjectId{entity.id}));
      message.set_name(to_utf8(recording.objects[entity.id].name));
      break;
    case analysis::EntityKind::thread:
      message.set_kind("thread");
      message.set_name(to_utf8(recording.threads[entity.id].name));
      break;
  }
}

}  // namespace

void write_concurrency(const analysis::ConcurrencyReport& report, const Recording& recording,
                       v1::GetConcurrencyResponse& message) {
  using analysis::ConcurrencyClass;
  message.set_total_ns(report.total_ns);
  for (const analysis::ConcurrencyLevel& level : report.levels) {
    v1::ConcurrencyLevel& out = *message.add_levels();
    out.set_running(level.running);
    out.set_runnable(level.runnable);
    write_path(level.path_ns, *out.mutable_path());
  }
  const auto at = [&](ConcurrencyClass which) {
    return report.crossed.at(static_cast<std::size_t>(which));
  };
  write_path(at(ConcurrencyClass::idle), *message.mutable_idle());
  write_path(at(ConcurrencyClass::serial), *message.mutable_serial());
  write_path(at(ConcurrencyClass::undersubscribed), *message.mutable_undersubscribed());
  write_path(at(ConcurrencyClass::parallel), *message.mutable_parallel());
  write_path(at(ConcurrencyClass::oversubscribed), *message.mutable_oversubscribed());

  const std::vector<StackId> charged = analysis::charged_frames(recording);
  const auto stack = [&](StackId site) -> const Stack& {
    return recording.stacks[charged[site.index()].index()];
  };
  for (std::size_t i = 0; i < std::min(report.objects.size(), max_rows); ++i) {
    const analysis::ObjectImpact& row = report.objects[i];
    v1::ObjectImpact& out = *message.add_objects();
    out.set_kind(row.object.known() ? object_kind(recording, row.object) : "thread-end");
    if (row.object.known())
      out.set_name(to_utf8(recording.objects[row.object.index()].name));
    out.set_times(row.times);
    out.set_impact_ns(row.impact_ns);
    if (row.waited_at.known())
      write_place(recording, stack(row.waited_at), *out.mutable_waited_at());
    if (row.released_at.known())
      write_place(recording, stack(row.released_at), *out.mutable_released_at());
  }
  for (std::size_t i = 0; i < std::min(report.threads.size(), max_rows); ++i) {
    const analysis::ThreadImpact& row = report.threads[i];
    v1::ThreadImpact& out = *message.add_threads();
    out.set_thread(to_utf8(recording.threads[row.delays.index()].name));
    out.set_delayed(to_utf8(recording.threads[row.delayed.index()].name));
    out.set_times(row.times);
    out.set_impact_ns(row.impact_ns);
  }
}

void write_quartz(const analysis::QuartzReport& report, std::size_t rows,
                  const Recording& recording, v1::GetQuartzResponse& message) {
  const std::size_t count = std::min(report.rows.size(), rows + 1);
  message.set_total_ns(report.total_ns);
  message.set_most_busy(report.most_busy);
  message.set_more_busy(report.more_busy);
  message.set_rows_left(report.rows.size() - count);
  for (std::size_t i = 0; i < count; ++i) {
    const analysis::QuartzRow& row = report.rows[i];
    v1::QuartzRow& out = *message.add_rows();
    write_entity(recording, row.entity, out);
    if (row.calls)
      out.set_calls(*row.calls);
    write_times(row.self, *out.mutable_self());
    write_times(row.total, *out.mutable_total());
    for (const analysis::QuartzChild& child : row.children) {
      if (child.row >= count)
        continue;
      v1::QuartzChild& below = *out.add_children();
      below.set_row(static_cast<std::uint32_t>(child.row));
      below.set_normalized_ns(child.normalized_ns);
      if (child.calls)
        below.set_calls(*child.calls);
    }
  }
}

}  // namespace longpole::service
