// What calls are about, as one number each.
#pragma once

#include <array>
#include <cstdint>

#include "trace/event_forms.h"
#include "trace/recording.h"

namespace longpole::analysis {

// An object by its number plus one, the end of a thread by its number behind those; 0: neither. The same in
// all executions of a recording.
using SubjectKey = std::uint32_t;

class SubjectKeys {
 public:
  explicit SubjectKeys(const Recording& recording) {
    for (std::size_t kind = 0; kind < event_kind_count; ++kind) {
      const SubjectForm form = event_form(static_cast<EventKind>(kind)).subject;
      if (form == SubjectForm::object)
        first_[kind] = 1;
      else if (form == SubjectForm::thread)
        first_[kind] = static_cast<SubjectKey>(recording.objects.size()) + 1;
    }
  }

  [[nodiscard]] SubjectKey of(const Event& event) const {
    const SubjectKey first = first_[static_cast<std::size_t>(event.kind)];
    return first == 0 || event.subject == unknown_count ? 0 : first + event.subject;
  }

 private:
  std::array<SubjectKey, event_kind_count> first_{};  // of the first of those; 0: of no such kind
};

}  // namespace longpole::analysis
