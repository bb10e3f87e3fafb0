// Which event a recorded call is, and how it ended.
#pragma once

#include <optional>

#include "trace/recording.h"

namespace longpole::recording {

struct CallForm {
  EventKind event;
  ObjectKind object = ObjectKind::mutex;
  bool has_object = false;
};

// Of an enum longpole_kind; none for what is no call of its own, or is told otherwise.
[[nodiscard]] std::optional<CallForm> call_form(unsigned kind);

// `result`: the errno value that the call returned or set.
[[nodiscard]] Outcome outcome_of(EventKind kind, int result);

// The event's subject is a thread.
[[nodiscard]] bool names_thread(EventKind kind);

}  // namespace longpole::recording
