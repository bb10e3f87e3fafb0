#include "trace/statement_text.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace longpole {
namespace {

constexpr std::string_view spinning = "spinning";
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
    const auto function = read_function(line);
    if (!function)
      return tl::unexpected(function.error());
    statement.run_function = *function;
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

Expected<FunctionId> StatementReader::read_function(TextLine& line) {
  const auto name = line.name("the name of a function");
  if (!name)
    return tl::unexpected(name.error());
  if (is_unknown(*name))
    return FunctionId::none();
  const auto number = name->setting("@");
  if (form_ == TextForm::program || !number)
    return tables_.function(name->text);
  const auto n =
      line.count_of(*name, *number, "the number of a function after @", 0, largest_count);
  if (!n)
    return tl::unexpected(n.error());
  if (*n >= tables_.function_count())
    return line.error_at(*name, fmt::format("there is no function {}", *n));
  return FunctionId{static_cast<std::uint32_t>(*n)};
}

Expected<void> StatementReader::read_subject(TextLine& line, const EventForm& form, Event& event) {
  if (form.subject == SubjectForm::none || form.subject == SubjectForm::descriptor)
    return {};
  if (form.subject == SubjectForm::function)
    return read_function(line).map([&](FunctionId function) { event.subject = function.value; });
  const bool is_thread = form.subject == SubjectForm::thread;
  const std::string_view sort = is_thread ? "thread" : object_kind_word(form.object_kind);
  const auto name = line.name(fmt::format("the name of a {}", sort));
  if (!name)
    return tl::unexpected(name.error());
  if (is_unknown(*name))
    return {};
  if (!is_thread) {
    event.subject = tables_.object(form.object_kind, name->text).value;
    return {};
  }
  return find_thread_(line, *name).map([&](ThreadId thread) { event.subject = thread.value; });
}

Expected<void> StatementReader::read_other(TextLine& line, const EventForm& form, Event& event) {
  if (form.other == OtherForm::none || form.other == OtherForm::woken ||
      form.other == OtherForm::bytes)
    return {};
  if (form.other == OtherForm::spins) {
    if (line.take_if(spinning))
      event.other = Event::burns_cpu;
    return {};
  }
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
  return find_thread_(line, *name).map([&](ThreadId thread) { event.other = thread.value; });
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

void append_statement(std::string& out, const Recording& recording, const TextIndex& index,
                      const Event& event, FunctionId run_function) {
  const EventForm& form = event_form(event.kind);
  out += form.word;
  const auto append_known = [&](bool known, const auto& table, std::uint32_t entry) {
    out += ' ';
    if (known)
      append_name(out, table[entry].name);
    else
      out += '?';
  };
  // Functions of different files may have one name, which then stands for the first.
  const auto append_function = [&](FunctionId function) {
    if (function.known() && index.function(recording.functions[function.index()].name) != function)
      out += fmt::format(" @{}", function.value);
    else
      append_known(function.known(), recording.functions, function.value);
  };
  if (event.kind == EventKind::run) {
    append_function(run_function);
    out += ' ';
    append_milliseconds(out, event.cpu);
    return;
  }
  const bool has_subject = event.subject != unknown_count;
  const bool has_other = event.other != unknown_count;
  if (form.subject == SubjectForm::function)
    append_function(event.callee());
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
  if (event.spins()) {
    out += ' ';
    out += spinning;
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
