// The grammar: README.md.
#include "trace/program_text.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "trace/limits.h"
#include "trace/statement_text.h"
#include "trace/text_line.h"
#include "trace/text_tables.h"

namespace longpole {
namespace {

class ProgramReader {
 public:
  ProgramReader(std::string_view text, const Limits& limits)
      : text_(text),
        limits_(limits),
        statements_(TextForm::program, tables_, [this](const TextLine& line, const Word& word) {
          return find_thread(line, word);
        }) {}

  Expected<Recording> read() {
    collect_thread_names();
    TextLines lines(text_);
    while (const auto text = lines.next()) {
      TextLine line(*text, lines.number(), limits_);
      if (auto sound = line.check_length(); !sound)
        return tl::unexpected(sound.error());
      if (line.at_end())
        continue;
      auto done = line.take_if("thread")      ? read_thread(line)
                  : line.take_if("semaphore") ? read_semaphore(line)
                                              : read_statement(line);
      if (done)
        done = line.end();
      if (!done)
        return tl::unexpected(done.error());
    }
    if (recording_.threads.empty())
      return bad_input({}, "it has no thread", "a program file has `thread NAME` lines");
    end_thread();
    finish_run();
    return std::move(recording_);
  }

 private:
  // `create` and `join` may name a thread that stands further down, so all are known beforehand, in
  // the order of their lines. What is wrong with a line is said when its turn comes.
  void collect_thread_names() {
    TextLines lines(text_);
    std::uint32_t next = 0;
    while (const auto text = lines.next()) {
      TextLine line(*text, lines.number(), limits_);
      if (!line.take_if("thread"))
        continue;
      if (const auto name = line.name("a name");
          name && thread_names_.try_emplace(std::string(name->text), ThreadId{next}).second)
        ++next;
    }
  }

  Expected<ThreadId> find_thread(const TextLine& line, const Word& word) const {
    const auto found = thread_names_.find(word.text);
    if (found != thread_names_.end())
      return found->second;
    return line.error_at(word, fmt::format("there is no thread \"{}\" in this file", word.text));
  }

  Expected<void> read_thread(TextLine& line) {
    end_thread();
    const auto name = line.name("the name of a thread");
    if (!name)
      return tl::unexpected(name.error());
    if (const auto id = tables_.index().thread(name->text))
      return line.error_at(*name, fmt::format("thread \"{}\" already begins on line {}", name->text,
                                              begins_on_[id->index()]));
    if (recording_.threads.size() == limits_.threads)
      return line.limit_at(*name, fmt::format("more than {} threads", limits_.threads));
    Thread thread{.name = std::string(name->text)};
    while (!line.at_end())
      if (auto setting = read_setting(line, thread); !setting)
        return setting;
    self_ = tables_.add(std::move(thread));
    begins_on_.push_back(line.number());
    open_ = {};
    entered_on_.clear();
    clock_ = {};
    if (const auto known = creators_.find(self_); known != creators_.end())
      recording_.threads.back().creator = known->second.creator;
    return {};
  }

  static Expected<void> read_setting(TextLine& line, Thread& thread) {
    constexpr std::string_view settings = "priority=N or cpu=N";
    const auto word = line.word(settings);
    if (!word)
      return tl::unexpected(word.error());
    if (const auto value = word->setting("priority=")) {
      const auto priority =
          line.integer_of(*word, *value, "a priority", std::numeric_limits<std::int32_t>::min(),
                          std::numeric_limits<std::int32_t>::max());
      if (!priority)
        return tl::unexpected(priority.error());
      thread.priority = static_cast<std::int32_t>(*priority);
      return {};
    }
    if (const auto value = word->setting("cpu=")) {
      const auto number = line.count_of(*word, *value, "a CPU", 0, std::uint64_t{1} << 20U);
      if (!number)
        return tl::unexpected(number.error());
      thread.bound_to = static_cast<std::uint32_t>(*number);
      return {};
    }
    return line.unexpected_word(*word, settings);
  }

  Expected<void> read_semaphore(TextLine& line) {
    const auto name = line.name("the name of a semaphore");
    if (!name)
      return tl::unexpected(name.error());
    if (self_.known())
      return line.error_at(*name,
                           "the value of a semaphore is given above the first `thread` line");
    if (tables_.index().object(ObjectKind::semaphore, name->text))
      return line.error_at(*name, fmt::format("semaphore \"{}\" has a value already", name->text));
    if (auto sign = line.keyword("="); !sign)
      return sign;
    const auto value = line.count("a value", 0, unknown_count - 1);
    if (!value)
      return tl::unexpected(value.error());
    const ObjectId id = tables_.object(ObjectKind::semaphore, name->text);
    recording_.objects[id.index()].initial = static_cast<std::uint32_t>(*value);
    return {};
  }

  Expected<void> read_statement(TextLine& line) {
    TextLine again = line;
    const auto word = again.word("a statement");
    if (!word)
      return tl::unexpected(word.error());
    if (!self_.known())
      return line.unexpected_word(*word, "`thread NAME` or `semaphore NAME = VALUE`");
    Thread& thread = recording_.threads[self_.index()];
    if (!thread.events.empty() && thread.events.back().kind == EventKind::thread_end)
      return line.unexpected_word(*word, "`thread NAME` after the end of a thread");
    if (++events_ > limits_.events)
      return line.limit_at(*word, fmt::format("more than {} statements", limits_.events));

    auto read = statements_.read(line);
    if (!read)
      return tl::unexpected(read.error());
    Event& event = read->event;
    if (auto sound = check_in_program(line, *word, event); !sound)
      return sound;
    if (event.kind == EventKind::run)
      event.profile = open_.run_profile(tables_, read->run_function);
    open_.follow(event);
    clock_ += event.cpu;
    if (clock_ + event.duration > longest_time)
      return line.limit_at(*word, "the thread takes longer than 834 days");
    event.time = clock_;
    if (waits_for_fixed_time(event))
      clock_ += event.duration;
    thread.events.push_back(event);
    return {};
  }

  // What a statement cannot say by itself.
  Expected<void> check_in_program(const TextLine& line, const Word& word, const Event& event) {
    switch (event.kind) {
      case EventKind::enter:
        if (open_.depth() + 1 >= limits_.stack_depth)
          return line.limit_at(
              word, fmt::format("more than {} functions inside each other", limits_.stack_depth));
        entered_on_.push_back(line.number());
        return {};
      case EventKind::leave:
        return check_leave(line, word, event);
      case EventKind::thread_create:
        return check_create(line, word, event);
      case EventKind::barrier_wait:
        return check_barrier(line, word, event);
      default:
        return {};
    }
  }

  Expected<void> check_leave(const TextLine& line, const Word& word, const Event& event) {
    const std::string& left = recording_.functions[event.callee().index()].name;
    if (open_.empty())
      return line.error_at(word, fmt::format("\"{}\" is left but was not entered", left));
    if (open_.innermost() != event.callee())
      return line.error_at(
          word,
          fmt::format(R"("{}" is left inside "{}", which was entered on line {})", left,
                      recording_.functions[open_.innermost().index()].name, entered_on_.back()));
    entered_on_.pop_back();
    return {};
  }

  Expected<void> check_create(const TextLine& line, const Word& word, const Event& event) {
    if (event.thread() == self_)
      return line.error_at(word, "the thread creates itself");
    const auto [known, added] =
        creators_.try_emplace(event.thread(), Creation{self_, line.number()});
    if (!added)
      return line.error_at(
          word, fmt::format("the thread was already created on line {}", known->second.line));
    if (event.thread().index() < recording_.threads.size())
      recording_.threads[event.thread().index()].creator = self_;
    return {};
  }

  Expected<void> check_barrier(const TextLine& line, const Word& word, const Event& event) {
    const auto [known, added] =
        barriers_.try_emplace(event.object(), Barrier{event.other, line.number()});
    if (!added && known->second.parties != event.other)
      return line.error_at(
          word, fmt::format("the barrier \"{}\" is for {} threads here and for {} on line {}",
                            recording_.objects[event.object().index()].name, event.other,
                            known->second.parties, known->second.line));
    return {};
  }

  void end_thread() {
    if (!self_.known())
      return;
    std::vector<Event>& events = recording_.threads[self_.index()].events;
    if (events.empty() || events.back().kind != EventKind::thread_end)
      events.push_back({.time = clock_, .kind = EventKind::thread_end});
  }

  void finish_run() {
    recording_.run.source = Source::program;
    for (const Thread& thread : recording_.threads)
      for (const Event& event : thread.events)
        recording_.run.cpu_time += event.cpu;
  }

  struct Creation {
    ThreadId creator;
    std::size_t line;
  };
  struct Barrier {
    std::uint32_t parties;
    std::size_t line;
  };

  std::string_view text_;
  const Limits& limits_;
  Recording recording_;
  TextTables tables_{recording_};
  StatementReader statements_;
  ByName<ThreadId> thread_names_;
  std::vector<std::size_t> begins_on_;  // by thread: its line
  std::map<ThreadId, Creation> creators_;
  std::map<ObjectId, Barrier> barriers_;
  std::size_t events_ = 0;

  // The thread that is being read.
  ThreadId self_;
  OpenFunctions open_;
  std::vector<std::size_t> entered_on_;  // by open function: its line
  Nanoseconds clock_{};                  // as if it never waited for another thread
};

}  // namespace

Expected<Recording> read_program(std::string_view text, const std::string& name,
                                 const Limits& limits) {
  auto recording = ProgramReader(text, limits).read().and_then([](Recording r) {
    return validate(r).map([&] { return std::move(r); });
  });
  if (!recording)
    recording.error().what = fmt::format("cannot read {}", name);
  return recording;
}

}  // namespace longpole
