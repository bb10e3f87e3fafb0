#include "trace/statement_text.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace longpole {
namespace {

constexpr std::uint64_t largest_count = std::numeric_limits<std::uint32_t>::max() - 1;

std::string all_statements() {
  std::string out;
  for (std::size_t i = 0; i < event_kind_count; ++i) {
    out += i == 0 ? "" : i + 1 < event_kind_count ? ", " : " or ";
    out += event_form(static_cast<EventKind>(i)).word;
  }
  return out;
}

// Which outcomes a statement may name; `ok` goes without saying where nothing else is usual.
bool must_name_outcome(OutcomeForm form) {
  return form == OutcomeForm::tried || form == OutcomeForm::timed;
}

}  // namespace

Expected<StatementReader::Statement> StatementReader::read(TextLine& line) {
  const auto word = line.word("a statement");
  if (!word)
    return tl::unexpected(word.error());
  const auto kind = word->quoted ? std::nullopt : event_kind_of(word->text);
  if (!kind)
    return line.unexpected_word(*word, all_statements());
  const EventForm& form = event_form(*kind);
  Statement statement{.event = {.kind = *kind}, .run_function = {}};
  Event& event = statement.event;

  if (*kind == EventKind::run) {
    const auto function = line.name("the name of a function");
    if (!function)
      return tl::unexpected(function.error());
    if (!is_unknown(*function))
      statement.run_function = tables_.function(function->text);
    const auto cpu = line.duration("a duration");
    if (!cpu)
      return tl::unexpected(cpu.error());
    event.cpu = *cpu;
    return statement;
  }
  if (auto subject = read_subject(line, form, event); !subject)
    return tl::unexpected(subject.error());
  if (auto other = read_other(line, form, event); !other)
    return tl::unexpected(other.error());
  if (form.has_duration) {
    const auto duration = line.duration("a duration");
    if (!duration)
      return tl::unexpected(duration.error());
    event.duration = *duration;
  }
  if (auto outcome = read_outcome(line, form, event); !outcome)
    return tl::unexpected(outcome.error());
  return statement;
}

Expected<void> StatementReader::read_subject(TextLine& line, const EventForm& form, Event& event) {
  if (form.subject == SubjectForm::none)
    return {};
  const std::string_view sort = form.subject == SubjectForm::thread ? "thread"
                                : form.subject == SubjectForm::function
                                    ? "function"
                                    : object_kind_word(form.object_kind);
  const auto name = line.name(fmt::format("the name of a {}", sort));
  if (!name)
    return tl::unexpected(name.error());
  if (is_unknown(*name))
    return {};
  switch (form.subject) {
    case SubjectForm::none:
      break;
    case SubjectForm::function:
      event.subject = tables_.function(name->text).value;
      break;
    case SubjectForm::object:
      event.subject = tables_.object(form.object_kind, name->text).value;
      break;
    case SubjectForm::thread: {
      const auto thread = find_thread_(line, *name);
      if (!thread)
        return tl::unexpected(thread.error());
      event.subject = thread->value;
      break;
    }
  }
  return {};
}

Expected<void> StatementReader::read_other(TextLine& line, const EventForm& form, Event& event) {
  if (form.other == OtherForm::none || form.other == OtherForm::woken)
    return {};
  if (form.other == OtherForm::parties) {
    if (form_ == TextForm::recording && line.take_if("?"))
      return {};
    const auto parties = line.count("a number of threads", 1, largest_count);
    if (!parties)
      return tl::unexpected(parties.error());
    event.other = static_cast<std::uint32_t>(*parties);
    return {};
  }
  if (form.other == OtherForm::receiver) {
    if (auto to = line.keyword("to"); !to)
      return to;
  }
  const auto name =
      line.name(form.other == OtherForm::receiver ? "the name of a thread" : "the name of a mutex");
  if (!name)
    return tl::unexpected(name.error());
  if (is_unknown(*name))
    return {};
  if (form.other == OtherForm::mutex) {
    event.other = tables_.object(ObjectKind::mutex, name->text).value;
    return {};
  }
  const auto receiver = find_thread_(line, *name);
  if (!receiver)
    return tl::unexpected(receiver.error());
  event.other = receiver->value;
  return {};
}

Expected<void> StatementReader::read_outcome(TextLine& line, const EventForm& form, Event& event) {
  std::string allowed;
  for (std::size_t i = 0; i < outcome_count; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    const bool usual = outcome != Outcome::failed && outcome != Outcome::unfinished;
    if (!form.allows(outcome) || (form_ == TextForm::program && !usual) ||
        (form_ == TextForm::program && !must_name_outcome(form.outcome)))
      continue;
    if (line.take_if(outcome_word(outcome))) {
      event.outcome = outcome;
      return {};
    }
    allowed += allowed.empty() ? "" : " or ";
    allowed += outcome_word(outcome);
  }
  if (!must_name_outcome(form.outcome))
    return {};
  const auto word = line.word(allowed);
  return word ? line.unexpected_word(*word, allowed) : tl::unexpected(word.error());
}

void append_statement(std::string& out, const Recording& recording, const Event& event,
                      FunctionId run_function) {
  const EventForm& form = event_form(event.kind);
  out += form.word;
  const auto append_known = [&](bool known, const auto& table, std::uint32_t index) {
    out += ' ';
    if (known)
      append_name(out, table[index].name);
    else
      out += '?';
  };
  if (event.kind == EventKind::run) {
    append_known(run_function.known(), recording.functions, run_function.value);
    out += ' ';
    append_milliseconds(out, event.cpu);
    return;
  }
  const bool has_subject = event.subject != unknown_count;
  const bool has_other = event.other != unknown_count;
  if (form.subject == SubjectForm::function)
    append_known(has_subject, recording.functions, event.subject);
  else if (form.subject == SubjectForm::thread)
    append_known(has_subject, recording.threads, event.subject);
  else if (form.subject == SubjectForm::object)
    append_known(has_subject, recording.objects, event.subject);

  if (form.other == OtherForm::mutex) {
    append_known(has_other, recording.objects, event.other);
  } else if (form.other == OtherForm::receiver) {
    out += " to";
    append_known(has_other, recording.threads, event.other);
  } else if (form.other == OtherForm::parties) {
    out += ' ';
    out += has_other ? fmt::to_string(event.other) : "?";
  }
  if (form.has_duration) {
    out += ' ';
    append_milliseconds(out, event.duration);
  }
  if (must_name_outcome(form.outcome) || event.outcome != Outcome::ok) {
    out += ' ';
    out += outcome_word(event.outcome);
  }
}

}  // namespace longpole
