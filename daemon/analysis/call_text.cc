#include "analysis/call_text.h"

#include "trace/event_forms.h"

namespace longpole::analysis {

std::string call_text(const Recording& recording, const Event& event) {
  const EventForm& form = event_form(event.kind);
  std::string text(form.word);
  if (form.subject == SubjectForm::object && event.object().known())
    text += " " + recording.objects[event.object().index()].name;
  else if (form.subject == SubjectForm::thread && event.thread().known())
    text += " " + recording.threads[event.thread().index()].name;
  return text;
}

}  // namespace longpole::analysis
