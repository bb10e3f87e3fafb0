#include "analysis/critical_sections.h"

#include "trace/event_kinds.h"

namespace longpole::analysis {

bool Holding::is_acquisition(const Event& event) {
  return event.outcome == Outcome::ok && acquires_object(event.kind);
}

bool Holding::is_release(const Event& event) {
  return (event.outcome == Outcome::ok || event.outcome == Outcome::unfinished) &&
         gives_object_back(event.kind);
}

std::vector<bool> locks_of(const Recording& recording) {
  std::vector<bool> locks(recording.objects.size(), false);
  std::vector<bool> semaphores(recording.objects.size(), false);
  for (std::size_t o = 0; o < locks.size(); ++o) {
    const Object& object = recording.objects[o];
    semaphores[o] = object.kind == ObjectKind::semaphore;
    locks[o] = object.kind == ObjectKind::mutex || object.kind == ObjectKind::rwlock ||
               (semaphores[o] && object.initial == 1);
  }
  std::vector<std::uint32_t> holder(recording.objects.size(), unknown_count);
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    for (const Event& event : recording.threads[t].events) {
      if (event.subject >= locks.size() || !semaphores[event.subject])
        continue;
      if (Holding::is_acquisition(event)) {
        if (holder[event.subject] == t)
          locks[event.subject] = false;
        holder[event.subject] = t;
      } else if (Holding::is_release(event)) {
        if (holder[event.subject] != t)
          locks[event.subject] = false;
        holder[event.subject] = unknown_count;
      }
    }
  }
  return locks;
}

}  // namespace longpole::analysis
