// What each kind of event carries, and its word in the text forms: one table, from which the text
// forms are read and printed and recordings are validated.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/recording.h"

namespace longpole {

enum class SubjectForm : std::uint8_t {
  none,
  function,
  thread,
  object,
  descriptor,  // of a file, or unknown_count
};

enum class OtherForm : std::uint8_t {
  none,
  mutex,     // ObjectId of a mutex
  receiver,  // ThreadId
  parties,   // a count, at least 1, the same in every use of the barrier
  spins,     // Event::burns_cpu, or unknown_count
  woken,     // a count, or unknown_count
  bytes,     // likewise
};

enum class OutcomeForm : std::uint8_t {
  ok,     // no call, or one that cannot fail
  plain,  // ok, failed, unfinished
  tried,  // these and busy
  timed,  // these and timeout
};

struct EventForm {
  std::string_view word;
  SubjectForm subject = SubjectForm::none;
  ObjectKind object_kind = ObjectKind::mutex;  // where the subject is an object
  OtherForm other = OtherForm::none;
  bool has_duration = false;  // the statement says how long it is off the CPU
  OutcomeForm outcome = OutcomeForm::plain;

  [[nodiscard]] constexpr bool allows(Outcome o) const {
    switch (o) {
      case Outcome::ok:
        return true;
      case Outcome::busy:
        return outcome == OutcomeForm::tried;
      case Outcome::timeout:
        return outcome == OutcomeForm::timed;
      case Outcome::failed:
      case Outcome::unfinished:
        return outcome != OutcomeForm::ok;
    }
    return false;
  }
};

// `kind` must be one of EventKind.
[[nodiscard]] const EventForm& event_form(EventKind kind);
[[nodiscard]] std::optional<EventKind> event_kind_of(std::string_view word);

inline constexpr std::size_t object_kind_count = static_cast<std::size_t>(ObjectKind::channel) + 1;
[[nodiscard]] std::string_view object_kind_word(ObjectKind kind);
[[nodiscard]] std::optional<ObjectKind> object_kind_of(std::string_view word);

inline constexpr std::size_t outcome_count = static_cast<std::size_t>(Outcome::unfinished) + 1;
[[nodiscard]] std::string_view outcome_word(Outcome outcome);

inline constexpr std::size_t source_count = static_cast<std::size_t>(Source::portable) + 1;
[[nodiscard]] std::string_view source_word(Source source);

// The event's `duration` is a segment of fixed length off the CPU: a sleep, I/O, an external wait,
// or a wait that timed out.
[[nodiscard]] constexpr bool waits_for_fixed_time(const Event& event) {
  return event.outcome == Outcome::timeout || event.kind == EventKind::sleep ||
         event.kind == EventKind::io || event.kind == EventKind::external_wait;
}

// In the recorded run another thread had to let the call go on, and meanwhile its own had no use for a CPU.
[[nodiscard]] constexpr bool waited_for_a_thread(const Event& event) {
  return event.duration > Nanoseconds{} && event.outcome == Outcome::ok &&
         !waits_for_fixed_time(event) && !event.spins();
}

}  // namespace longpole
