#include "service/timeline_names.h"

#include "service/limits.h"
#include "service/marshalling.h"
#include "trace/event_forms.h"

namespace longpole::service {

using analysis::SpanState;

std::string label(std::string_view name) {
  if (name.size() <= max_label_bytes)
    return to_utf8(name);
  return to_utf8(name.substr(0, max_label_bytes)) + "…";
}

v1::TimelineState state_of(SpanState state) {
  switch (state) {
    case SpanState::running:
      return v1::TIMELINE_STATE_RUNNING;
    case SpanState::runnable:
      return v1::TIMELINE_STATE_RUNNABLE;
    case SpanState::blocked:
      return v1::TIMELINE_STATE_BLOCKED;
    case SpanState::io:
      return v1::TIMELINE_STATE_IO;
    case SpanState::sleeping:
      return v1::TIMELINE_STATE_SLEEPING;
  }
  return v1::TIMELINE_STATE_UNSPECIFIED;
}

void write_place(const Recording& recording, StackId frame, v1::Place& message) {
  const Stack& stack = recording.stacks[frame.index()];
  message.set_file(label(file_path(recording, stack.file)));
  message.set_line(stack.line);
  message.set_function(label(function_name(recording, stack.function)));
}

void write_object(const Object& object, std::uint32_t id, v1::TimelineObject& message) {
  message.set_id(id);
  message.set_kind(std::string(object_kind_word(object.kind)));
  message.set_name(label(object.name));
}
void write_thread_end(const Thread& thread, std::uint32_t id, v1::TimelineObject& message) {
  message.set_id(id);
  message.set_kind("thread-end");
  message.set_name(label(thread.name));
}

bool write_subject(const Recording& recording, const Event& event, v1::TimelineObject& message) {
  if (event.subject == unknown_count)
    return false;
  switch (event_form(event.kind).subject) {
    case SubjectForm::object:
      write_object(recording.objects[event.subject], event.subject, message);
      return true;
    case SubjectForm::thread:
      write_thread_end(recording.threads[event.subject], event.subject, message);
      return true;
    case SubjectForm::function:
    case SubjectForm::descriptor:
    case SubjectForm::none:
      return false;
  }
  return false;
}

}  // namespace longpole::service
