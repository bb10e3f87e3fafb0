#include "trace/event_forms.h"

#include <algorithm>
#include <array>

namespace longpole {
namespace {

constexpr EventForm object_form(std::string_view word, ObjectKind kind,
                                OutcomeForm outcome = OutcomeForm::plain, bool has_duration = false,
                                OtherForm other = OtherForm::none) {
  return {word, SubjectForm::object, kind, other, has_duration, outcome};
}
constexpr EventForm thread_form(std::string_view word) {
  return {.word = word, .subject = SubjectForm::thread};
}

// In the order of EventKind.
constexpr std::array<EventForm, event_kind_count> forms{{
    {.word = "run", .outcome = OutcomeForm::ok},
    {.word = "enter", .subject = SubjectForm::function, .outcome = OutcomeForm::ok},
    {.word = "leave", .subject = SubjectForm::function, .outcome = OutcomeForm::ok},
    thread_form("create"),
    thread_form("join"),
    thread_form("detach"),
    thread_form("cancel"),
    {.word = "end", .outcome = OutcomeForm::ok},
    object_form("lock", ObjectKind::mutex, OutcomeForm::plain, false, OtherForm::spins),
    object_form("trylock", ObjectKind::mutex, OutcomeForm::tried),
    object_form("timedlock", ObjectKind::mutex, OutcomeForm::timed, true),
    object_form("unlock", ObjectKind::mutex),
    object_form("rdlock", ObjectKind::rwlock),
    object_form("wrlock", ObjectKind::rwlock),
    object_form("rwunlock", ObjectKind::rwlock),
    object_form("wait", ObjectKind::semaphore),
    object_form("trywait", ObjectKind::semaphore, OutcomeForm::tried),
    object_form("timedwait", ObjectKind::semaphore, OutcomeForm::timed, true),
    object_form("post", ObjectKind::semaphore),
    object_form("cwait", ObjectKind::condition, OutcomeForm::plain, false, OtherForm::mutex),
    object_form("ctimedwait", ObjectKind::condition, OutcomeForm::timed, true, OtherForm::mutex),
    object_form("signal", ObjectKind::condition, OutcomeForm::plain, false, OtherForm::woken),
    object_form("broadcast", ObjectKind::condition, OutcomeForm::plain, false, OtherForm::woken),
    object_form("barrier", ObjectKind::barrier, OutcomeForm::plain, false, OtherForm::parties),
    {.word = "yield"},
    {.word = "sleep", .has_duration = true},
    object_form("io", ObjectKind::device, OutcomeForm::plain, true),
    {.word = "external",
     .subject = SubjectForm::descriptor,
     .other = OtherForm::bytes,
     .has_duration = true},
    object_form("send", ObjectKind::channel, OutcomeForm::plain, false, OtherForm::receiver),
    object_form("receive", ObjectKind::channel),
    {.word = "exit", .outcome = OutcomeForm::ok},
}};
static_assert(forms[static_cast<std::size_t>(EventKind::thread_end)].word == "end");
static_assert(forms[static_cast<std::size_t>(EventKind::semaphore_post)].word == "post");
static_assert(forms[static_cast<std::size_t>(EventKind::barrier_wait)].word == "barrier");
static_assert(forms.back().word == "exit");

constexpr std::array<std::string_view, object_kind_count> object_kind_words{
    "mutex", "rwlock", "semaphore", "condition", "barrier", "device", "channel"};
constexpr std::array<std::string_view, outcome_count> outcome_words{"ok", "busy", "timeout",
                                                                    "failed", "unfinished"};
constexpr std::array<std::string_view, source_count> source_words{"program", "text", "kernel",
                                                                  "portable"};

}  // namespace

const EventForm& event_form(EventKind kind) {
  return forms[static_cast<std::size_t>(kind)];
}

std::optional<EventKind> event_kind_of(std::string_view word) {
  const auto* const found =
      std::ranges::find_if(forms, [&](const EventForm& form) { return form.word == word; });
  if (found == forms.end())
    return std::nullopt;
  return static_cast<EventKind>(found - forms.begin());
}

std::string_view object_kind_word(ObjectKind kind) {
  return object_kind_words[static_cast<std::size_t>(kind)];
}

std::optional<ObjectKind> object_kind_of(std::string_view word) {
  const auto* const found = std::ranges::find(object_kind_words, word);
  if (found == object_kind_words.end())
    return std::nullopt;
  return static_cast<ObjectKind>(found - object_kind_words.begin());
}

std::string_view outcome_word(Outcome outcome) {
  return outcome_words[static_cast<std::size_t>(outcome)];
}

std::string_view source_word(Source source) {
  return source_words[static_cast<std::size_t>(source)];
}

}  // namespace longpole
