// The grammar: README.md.
#include <fmt/format.h>

#include <utility>

#include "trace/recording_text.h"
#include "trace/recording_text_header.h"
#include "trace/statement_text.h"

namespace longpole {
namespace {

class RecordingReader {
 public:
  RecordingReader(std::string_view text, const Limits& limits)
      : text_(text),
        limits_(limits),
        statements_(TextForm::recording, tables_, [this](const TextLine& line, const Word& word) {
          return threads_.mention(line, word);
        }) {
    recording_.run.source = Source::text;
  }

  Expected<Recording> read() {
    TextLines lines(text_);
    while (const auto text = lines.next()) {
      TextLine line(*text, lines.number(), limits_);
      if (auto sound = line.check_length(); !sound)
        return tl::unexpected(sound.error());
      if (line.at_end())
        continue;
      auto done = events_ == 0 && !line.next_is_number() ? header_.read(line) : read_event(line);
      if (done)
        done = line.end();
      if (!done)
        return tl::unexpected(done.error());
    }
    if (auto there = threads_.all_there(); !there)
      return tl::unexpected(there.error());
    if (recording_.threads.empty())
      return bad_input({}, "it has no event", "a text recording has lines `TIME THREAD STATEMENT`");
    end_threads();
    finish_run();
    return std::move(recording_);
  }

 private:
  // What is known of a thread while its events are read.
  struct Progress {
    OpenFunctions open{};
    Nanoseconds created{};
    Nanoseconds returned{};  // from its latest call: it cannot have run earlier
    std::size_t created_on = 0;
  };

  Expected<void> read_event(TextLine& line) {
    const auto time_word = line.word("a time");
    if (!time_word)
      return tl::unexpected(time_word.error());
    const auto time = line.duration_of(*time_word, time_word->text, "a time");
    if (!time)
      return tl::unexpected(time.error());
    if (*time < now_)
      return line.error_at(*time_word, "the time is earlier than that of the line before");
    const auto name = line.name("the name of a thread");
    if (!name)
      return tl::unexpected(name.error());
    const auto self = threads_.mention(line, *name);
    if (!self)
      return tl::unexpected(self.error());
    threads_.note_there(*self);
    if (++events_ > limits_.events)
      return line.limit_at(*time_word, fmt::format("more than {} events", limits_.events));

    auto read = statements_.read(line);
    if (!read)
      return tl::unexpected(read.error());
    progress_.resize(recording_.threads.size());
    Progress& progress = progress_[self->index()];
    Event& event = read->event;
    event.time = *time;
    if (event.kind == EventKind::run) {
      if (read->run_function.known())
        event.profile = progress.open.run_profile(tables_, read->run_function);
    } else {
      event.cpu = std::max(*time - std::max(now_, progress.returned), Nanoseconds{});
    }
    if (auto settings = read_settings(line, event); !settings)
      return settings;
    if (event.kind == EventKind::thread_create)
      if (auto created = note_created(line, *time_word, *self, event); !created)
        return created;

    progress.open.follow(event);
    progress.returned = event.time + event.duration;
    now_ = *time;
    recording_.threads[self->index()].events.push_back(event);
    return {};
  }

  Expected<void> read_settings(TextLine& line, Event& event) {
    constexpr std::string_view expected =
        "failed, unfinished, took=DURATION, cpu=DURATION, from THREAD, woke=NUMBER, fd=NUMBER, "
        "bytes=NUMBER, site=NUMBER or profile=NUMBER";
    while (!line.at_end()) {
      const auto word = line.word(expected);
      if (!word)
        return tl::unexpected(word.error());
      auto read = read_setting(line, *word, expected, event);
      if (!read)
        return read;
    }
    return {};
  }

  Expected<void> read_setting(TextLine& line, const Word& word, std::string_view expected,
                              Event& event) {
    const EventForm& form = event_form(event.kind);
    const auto store_time = [&](Nanoseconds& to, std::string_view value) {
      return line.duration_of(word, value, "a duration").map([&](Nanoseconds t) { to = t; });
    };
    const auto store_number = [&](std::uint32_t& to, std::string_view value) {
      return line.count_of(word, value, "a number", 0, unknown_count).map([&](std::uint64_t n) {
        to = static_cast<std::uint32_t>(n);
      });
    };
    if (word.is("from")) {
      const auto name = line.name("the name of a thread");
      if (!name)
        return tl::unexpected(name.error());
      return threads_.mention(line, *name).map([&](ThreadId thread) { event.waker = thread; });
    }
    if (const auto value = word.setting("cpu="); value && event.kind != EventKind::run)
      return store_time(event.cpu, *value);
    if (const auto value = word.setting("took="); value && !form.has_duration)
      return store_time(event.duration, *value);
    if (const auto value = word.setting("woke="); value && form.other == OtherForm::woken)
      return store_number(event.other, *value);
    if (const auto value = word.setting("fd="); value && form.subject == SubjectForm::descriptor)
      return store_number(event.subject, *value);
    if (const auto value = word.setting("bytes="); value && form.other == OtherForm::bytes)
      return store_number(event.other, *value);
    if (const auto value = word.setting("site="))
      return store_number(event.site.value, *value);
    if (const auto value = word.setting("profile="))
      return store_number(event.profile.value, *value);
    return line.unexpected_word(word, expected);
  }

  Expected<void> note_created(const TextLine& line, const Word& word, ThreadId creator,
                              const Event& event) {
    if (event.subject == unknown_count || event.outcome == Outcome::failed)
      return {};
    if (event.thread() == creator)
      return line.error_at(word, "the thread creates itself");
    Progress& created = progress_[event.subject];
    if (created.created_on != 0)
      return line.error_at(
          word, fmt::format("the thread was already created on line {}", created.created_on));
    created.created_on = line.number();
    created.created = event.time;
    recording_.threads[event.subject].creator = creator;
    threads_.note_there(event.thread());
    return {};
  }

  // In a complete run every thread ends, said or not.
  void end_threads() {
    progress_.resize(recording_.threads.size());
    for (std::size_t i = 0; i < recording_.threads.size(); ++i) {
      std::vector<Event>& events = recording_.threads[i].events;
      const bool ended = !events.empty() && events.back().kind == EventKind::thread_end;
      if (!ended && recording_.run.complete)
        events.push_back({.time = std::max(progress_[i].created, progress_[i].returned),
                          .kind = EventKind::thread_end});
    }
  }

  void finish_run() {
    Nanoseconds cpu_time{};
    for (const Thread& thread : recording_.threads)
      for (const Event& event : thread.events)
        cpu_time = std::min(cpu_time + event.cpu, longest_time);
    const Nanoseconds usual = recording_.run.source == Source::program ? Nanoseconds{} : now_;
    recording_.run.elapsed = header_.times().elapsed.value_or(usual);
    recording_.run.cpu_time = header_.times().cpu_time.value_or(cpu_time);
  }

  std::string_view text_;
  const Limits& limits_;
  Recording recording_;
  TextTables tables_{recording_};
  MentionedThreads threads_{recording_, tables_, limits_};
  RecordingHeaderReader header_{recording_, tables_, threads_, limits_};
  StatementReader statements_;
  std::vector<Progress> progress_;  // by thread
  std::size_t events_ = 0;
  Nanoseconds now_{};  // the time of the line before
};

}  // namespace

Expected<Recording> read_recording_text(std::string_view text, const std::string& name,
                                        const Limits& limits) {
  auto recording = RecordingReader(text, limits).read().and_then([](Recording r) {
    return validate(r).map([&] { return std::move(r); });
  });
  if (!recording)
    recording.error().what = fmt::format("cannot read {}", name);
  return recording;
}

}  // namespace longpole
