// What kinds of events have in common.
#pragma once

#include "trace/recording.h"

namespace longpole {

// Takes a lock, or a unit of a semaphore, unless it fails.
[[nodiscard]] constexpr bool acquires_object(EventKind kind) {
  switch (kind) {
    case EventKind::mutex_lock:
    case EventKind::mutex_trylock:
    case EventKind::mutex_timedlock:
    case EventKind::rwlock_read:
    case EventKind::rwlock_write:
    case EventKind::semaphore_wait:
    case EventKind::semaphore_trywait:
    case EventKind::semaphore_timedwait:
      return true;
    default:
      return false;
  }
}

// Gives back what acquires_object() took.
[[nodiscard]] constexpr bool gives_object_back(EventKind kind) {
  return kind == EventKind::mutex_unlock || kind == EventKind::rwlock_unlock ||
         kind == EventKind::semaphore_post;
}

// Goes on when another thread does something with the same object.
[[nodiscard]] constexpr bool meets_others(EventKind kind) {
  switch (kind) {
    case EventKind::condition_wait:
    case EventKind::condition_timedwait:
    case EventKind::barrier_wait:
    case EventKind::send:
    case EventKind::receive:
      return true;
    default:
      return acquires_object(kind);
  }
}

}  // namespace longpole
