#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "trace/host_costs.h"
#include "trace/recording_text.h"
#include "trace/statement_text.h"
#include "trace/text_line.h"
#include "trace/text_tables.h"

namespace longpole {
namespace {

// Which tables are written. Where the events by themselves bring up the same entries in the same
// order, as in recordings made by hand, a table is left out.
struct Tables {
  bool threads = true;
  bool objects = true;
  bool code = true;  // modules, files, functions, stacks, profiles
};

constexpr std::size_t widest_statement = 28;
constexpr std::size_t widest_thread = 20;
constexpr std::size_t long_line = 4096;  // lists go on in another line after so many bytes

// The events of all threads in order of time; at equal times in the order of the threads.
class EventsInTimeOrder {
 public:
  explicit EventsInTimeOrder(const Recording& recording) : recording_(recording) {
    next_.resize(recording.threads.size());
    for (std::size_t i = 0; i < recording.threads.size(); ++i)
      offer(i);
  }

  struct Position {
    ThreadId thread;
    const Event* event;
  };
  [[nodiscard]] std::optional<Position> next() {
    if (queue_.empty())
      return std::nullopt;
    const std::size_t thread = queue_.top().second;
    queue_.pop();
    const Event* const event = &recording_.threads[thread].events[next_[thread]++];
    offer(thread);
    return Position{{static_cast<std::uint32_t>(thread)}, event};
  }

 private:
  void offer(std::size_t thread) {
    const std::vector<Event>& events = recording_.threads[thread].events;
    if (next_[thread] < events.size())
      queue_.emplace(events[next_[thread]].time, thread);
  }

  using Entry = std::pair<Nanoseconds, std::size_t>;
  const Recording& recording_;
  std::vector<std::size_t> next_;  // by thread
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

class Writer {
 public:
  Writer(const Recording& recording, Tables tables)
      : r_(recording), tables_(tables), index_(recording) {}

  std::string write() && {
    write_run();
    if (tables_.code)
      write_code();
    if (tables_.objects)
      write_objects();
    write_threads();
    write_events();
    return std::move(out_);
  }

 private:
  template <typename... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }
  void name(std::string_view text) { append_name(out_, text); }
  void setting(std::string_view key, Nanoseconds time) {
    out_ += key;
    append_milliseconds(out_, time);
  }
  template <typename Tag>
  void reference(std::string_view key, Id<Tag> id) {
    if (id.known())
      print(" {}{}", key, id.value);
  }

  void write_run() {
    const RunInfo& run = r_.run;
    const RunInfo usual;
    if (run.source != Source::text)
      print("source {}\n", source_word(run.source));
    write_command();
    if (!run.directory.empty()) {
      out_ += "directory ";
      name(run.directory);
      out_ += '\n';
    }
    if (run.started_at_unix_ns != usual.started_at_unix_ns)
      print("started {}\n", run.started_at_unix_ns);
    write_times();
    if (run.cpus != usual.cpus)
      print("cpus {}\n", run.cpus);
    if (run.machine_cpus != usual.machine_cpus)
      print("machine-cpus {}\n", run.machine_cpus);
    if (run.exit_status)
      print("exit-status {}\n", *run.exit_status);
    if (run.exit_signal)
      print("exit-signal {}\n", *run.exit_signal);
    if (run.cost_per_event != usual.cost_per_event)
      print("cost-per-event {}ns\n", run.cost_per_event.count());
    for (std::size_t cost = 0; cost < host_cost_count; ++cost) {
      if (const Nanoseconds time = host_cost(run.costs, cost); time != Nanoseconds{})
        print("cost {} {}ns\n", host_cost_word(cost), time.count());
    }
    for (const CpuTimeOn& one : run.cpu_time_on)
      print("cpu-time-on {} {}\n", one.cpus, one.thousandths);
    if (run.samples != usual.samples)
      print("samples {}\n", run.samples);
    if (run.sample_hz != usual.sample_hz)
      print("sample-rate {}\n", run.sample_hz);
    if (!run.complete)
      out_ += "incomplete\n";
    for (const Notice& notice : r_.notices) {
      out_ += "notice ";
      name(notice.code);
      print(" {} ", notice.count);
      name(notice.text);
      out_ += '\n';
    }
  }

  void write_command() {
    std::size_t line_begin = out_.size();
    for (const std::string& argument : r_.run.command) {
      if (out_.size() == line_begin)
        out_ += "command";
      out_ += ' ';
      name(argument);
      if (out_.size() - line_begin > long_line) {
        out_ += '\n';
        line_begin = out_.size();
      }
    }
    if (out_.size() != line_begin)
      out_ += '\n';
  }

  // As the reader works them out of the events.
  void write_times() {
    Nanoseconds last{};
    Nanoseconds cpu_time{};
    for (const Thread& thread : r_.threads) {
      if (!thread.events.empty())
        last = std::max(last, thread.events.back().time);
      for (const Event& event : thread.events)
        cpu_time += event.cpu;
    }
    if (r_.run.elapsed != (r_.run.source == Source::program ? Nanoseconds{} : last)) {
      setting("elapsed ", r_.run.elapsed);
      out_ += '\n';
    }
    if (r_.run.cpu_time != cpu_time) {
      setting("cpu-time ", r_.run.cpu_time);
      out_ += '\n';
    }
  }

  void write_code() {
    for (std::size_t i = 0; i < r_.modules.size(); ++i) {
      const Module& module = r_.modules[i];
      print("module {} ", i);
      name(module.path);
      if (!module.build_id.empty())
        print(" build={}", module.build_id);
      out_ += module.has_line_table ? " lines\n" : "\n";
    }
    for (std::size_t i = 0; i < r_.files.size(); ++i) {
      const File& file = r_.files[i];
      print("file {} ", i);
      name(file.path);
      if (!file.sha256.empty())
        print(" sha256={}", file.sha256);
      out_ += file.system ? " system\n" : "\n";
    }
    for (std::size_t i = 0; i < r_.functions.size(); ++i) {
      const Function& function = r_.functions[i];
      print("function {} ", i);
      name(function.name);
      reference("file=", function.file);
      if (function.line != 0)
        print(" line={}", function.line);
      if (function.last_line != 0)
        print(" last={}", function.last_line);
      reference("module=", function.module);
      out_ += '\n';
    }
    for (std::size_t i = 0; i < r_.stacks.size(); ++i) {
      const Stack& stack = r_.stacks[i];
      print("stack {} function={}", i, stack.function.value);
      reference("file=", stack.file);
      if (stack.line != 0)
        print(" line={}", stack.line);
      reference("caller=", stack.caller);
      out_ += stack.inlined ? " inlined" : "";
      place_comment({static_cast<std::uint32_t>(i)});
      out_ += '\n';
    }
    for (std::size_t i = 0; i < r_.profiles.size(); ++i)
      write_profile(i);
  }

  void write_profile(std::size_t i) {
    const Profile& profile = r_.profiles[i];
    std::size_t line_begin = out_.size();
    print("profile {}{}", i, profile.exact ? " exact" : "");
    for (const ProfileEntry& entry : profile.entries) {
      if (out_.size() - line_begin > long_line) {
        line_begin = out_.size() + 1;
        print("\nprofile {}+", i);
      }
      print(" {}", entry.stack.value);
      if (entry.samples != 0)
        print(":{}", entry.samples);
    }
    out_ += '\n';
  }

  // What a number stands for, for the person who reads it.
  void place_comment(StackId id) {
    const Stack& stack = r_.stacks[id.index()];
    out_ += "  # ";
    name(r_.functions[stack.function.index()].name);
    if (stack.file.known()) {
      const std::string& path = r_.files[stack.file.index()].path;
      out_ += ' ';
      name(std::string_view(path).substr(path.rfind('/') + 1));
      print(":{}", stack.line);
    }
  }

  void write_objects() {
    for (const Object& object : r_.objects) {
      print("{} ", object_kind_word(object.kind));
      name(object.name);
      if (object.initial != 0)
        print(" = {}", object.initial);
      reference("site=", object.first_site);
      out_ += '\n';
    }
  }

  void write_threads() {
    for (const Thread& thread : r_.threads) {
      if (!tables_.threads) {
        if (thread.priority) {
          out_ += "priority ";
          name(thread.name);
          print(" {}\n", *thread.priority);
        }
        continue;
      }
      out_ += "thread ";
      name(thread.name);
      reference("start=", thread.start_function);
      if (thread.priority)
        print(" priority={}", *thread.priority);
      if (thread.bound_to)
        print(" cpu={}", *thread.bound_to);
      out_ += '\n';
    }
  }

  void write_events() {
    std::size_t time_width = 0;
    std::size_t thread_width = 0;
    for (const Thread& thread : r_.threads) {
      std::string text;
      append_name(text, thread.name);
      thread_width = std::max(thread_width, std::min(text.size(), widest_thread));
      for (const Event& event : thread.events) {
        text.clear();
        append_milliseconds(text, event.time);
        time_width = std::max(time_width, text.size());
      }
    }
    progress_.resize(r_.threads.size());
    EventsInTimeOrder events(r_);
    while (const auto next = events.next())
      write_event(next->thread, *next->event, time_width, thread_width);
  }

  void write_event(ThreadId self, const Event& event, std::size_t time_width,
                   std::size_t thread_width) {
    std::size_t column = out_.size();
    const auto pad_to = [&](std::size_t width) {
      column += width;
      out_.append(out_.size() < column ? column - out_.size() : 0, ' ');
      column = out_.size();
    };
    append_milliseconds(out_, event.time);
    pad_to(time_width);
    out_ += "  ";
    column += 2;
    name(r_.threads[self.index()].name);
    pad_to(thread_width);
    out_ += ' ';
    ++column;

    Progress& progress = progress_[self.index()];
    FunctionId run_function;
    bool says_profile = event.profile.known();
    if (event.kind == EventKind::run && event.profile.known()) {
      const StackId stack = r_.profiles[event.profile.index()].entries.front().stack;
      const FunctionId function = r_.stacks[stack.index()].function;
      if (progress.open.find_run_profile(index_, function) == event.profile) {
        run_function = function;
        says_profile = false;
      }
    }
    append_statement(out_, r_, index_, event, run_function);

    const std::size_t statement_end = out_.size();
    pad_to(widest_statement);
    const std::size_t settings_begin = out_.size();
    write_settings(event, progress.returned, says_profile);
    if (out_.size() == settings_begin)
      out_.resize(statement_end);
    if (event.site.known())
      place_comment(event.site);
    out_ += '\n';

    progress.open.follow(event);
    progress.returned = event.time + event.duration;
    now_ = event.time;
  }

  void write_settings(const Event& event, Nanoseconds returned, bool says_profile) {
    const EventForm& form = event_form(event.kind);
    const Nanoseconds implied = std::max(event.time - std::max(now_, returned), Nanoseconds{});
    if (event.kind != EventKind::run && event.cpu != implied)
      setting(" cpu=", event.cpu);
    if (!form.has_duration && event.duration != Nanoseconds{})
      setting(" took=", event.duration);
    if (form.other == OtherForm::woken && event.other != unknown_count)
      print(" woke={}", event.other);
    if (form.subject == SubjectForm::descriptor && event.subject != unknown_count)
      print(" fd={}", event.subject);
    if (form.other == OtherForm::bytes && event.other != unknown_count)
      print(" bytes={}", event.other);
    if (event.waker.known()) {
      out_ += " from ";
      name(r_.threads[event.waker.index()].name);
    }
    if (says_profile)
      print(" profile={}", event.profile.value);
    reference("site=", event.site);
  }

  struct Progress {
    OpenFunctions open{};
    Nanoseconds returned{};
  };

  const Recording& r_;
  Tables tables_;
  TextIndex index_;
  std::string out_;
  std::vector<Progress> progress_;  // by thread
  Nanoseconds now_{};               // the time of the line before
};

bool same_threads(const std::vector<Thread>& a, const std::vector<Thread>& b) {
  return std::ranges::equal(a, b, [](const Thread& x, const Thread& y) {
    return std::tie(x.name, x.start_function, x.priority, x.bound_to) ==
           std::tie(y.name, y.start_function, y.priority, y.bound_to);
  });
}

// Recordings made by hand mostly need no tables. Whether this one does is found by reading it
// without.
Tables needed_tables(const Recording& recording) {
  if (recording.run.source != Source::program && recording.run.source != Source::text)
    return {};
  const Tables none{.threads = false, .objects = false, .code = false};
  const auto read = read_recording_text(Writer(recording, none).write(), "the recording");
  if (!read)
    return {};
  return {.threads = !same_threads(recording.threads, read->threads),
          .objects = recording.objects != read->objects,
          .code = recording.modules != read->modules || recording.files != read->files ||
                  recording.functions != read->functions || recording.stacks != read->stacks ||
                  recording.profiles != read->profiles};
}

}  // namespace

std::string write_recording_text(const Recording& recording) {
  return Writer(recording, needed_tables(recording)).write();
}

}  // namespace longpole
