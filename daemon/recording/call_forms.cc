#include "recording/call_forms.h"

#include <cerrno>

#include "longpole/raw_record.h"

namespace longpole::recording {

std::optional<CallForm> call_form(unsigned kind) {
  switch (kind) {
    case LONGPOLE_THREAD_END:
      return CallForm{EventKind::thread_end};
    case LONGPOLE_CREATE:
      return CallForm{EventKind::thread_create};
    case LONGPOLE_JOIN:
      return CallForm{EventKind::thread_join};
    case LONGPOLE_DETACH:
      return CallForm{EventKind::thread_detach};
    case LONGPOLE_MUTEX_LOCK:
      return CallForm{EventKind::mutex_lock, ObjectKind::mutex, true};
    case LONGPOLE_MUTEX_TRYLOCK:
      return CallForm{EventKind::mutex_trylock, ObjectKind::mutex, true};
    case LONGPOLE_MUTEX_TIMEDLOCK:
      return CallForm{EventKind::mutex_timedlock, ObjectKind::mutex, true};
    case LONGPOLE_MUTEX_UNLOCK:
      return CallForm{EventKind::mutex_unlock, ObjectKind::mutex, true};
    case LONGPOLE_CONDITION_WAIT:
      return CallForm{EventKind::condition_wait, ObjectKind::condition, true};
    case LONGPOLE_CONDITION_TIMEDWAIT:
      return CallForm{EventKind::condition_timedwait, ObjectKind::condition, true};
    case LONGPOLE_CONDITION_SIGNAL:
      return CallForm{EventKind::condition_signal, ObjectKind::condition, true};
    case LONGPOLE_CONDITION_BROADCAST:
      return CallForm{EventKind::condition_broadcast, ObjectKind::condition, true};
    case LONGPOLE_SEMAPHORE_WAIT:
      return CallForm{EventKind::semaphore_wait, ObjectKind::semaphore, true};
    case LONGPOLE_SEMAPHORE_TRYWAIT:
      return CallForm{EventKind::semaphore_trywait, ObjectKind::semaphore, true};
    case LONGPOLE_SEMAPHORE_TIMEDWAIT:
      return CallForm{EventKind::semaphore_timedwait, ObjectKind::semaphore, true};
    case LONGPOLE_SEMAPHORE_POST:
      return CallForm{EventKind::semaphore_post, ObjectKind::semaphore, true};
    case LONGPOLE_BARRIER_WAIT:
      return CallForm{EventKind::barrier_wait, ObjectKind::barrier, true};
    case LONGPOLE_RWLOCK_READ:
      return CallForm{EventKind::rwlock_read, ObjectKind::rwlock, true};
    case LONGPOLE_RWLOCK_WRITE:
      return CallForm{EventKind::rwlock_write, ObjectKind::rwlock, true};
    case LONGPOLE_RWLOCK_UNLOCK:
      return CallForm{EventKind::rwlock_unlock, ObjectKind::rwlock, true};
    case LONGPOLE_SPIN_LOCK:
      return CallForm{EventKind::mutex_lock, ObjectKind::mutex, true};
    case LONGPOLE_TEAM_WAIT:
      return CallForm{EventKind::semaphore_wait, ObjectKind::semaphore, true};
    case LONGPOLE_TEAM_BARRIER:
      return CallForm{EventKind::barrier_wait, ObjectKind::barrier, true};
    case LONGPOLE_TEAM_LOCK:
      return CallForm{EventKind::mutex_lock, ObjectKind::mutex, true};
    case LONGPOLE_CANCEL:
      return CallForm{EventKind::thread_cancel};
    case LONGPOLE_YIELD:
      return CallForm{EventKind::yield};
    case LONGPOLE_SLEEP:
      return CallForm{EventKind::sleep};
    default:
      return std::nullopt;  // no call of its own, or of a later version
  }
}

Outcome outcome_of(EventKind kind, int result) {
  const bool tries = kind == EventKind::mutex_trylock || kind == EventKind::semaphore_trywait;
  const bool timed = kind == EventKind::mutex_timedlock || kind == EventKind::semaphore_timedwait ||
                     kind == EventKind::condition_timedwait;
  if (result == 0 || result == EOWNERDEAD)  // the lock of a dead owner was taken all the same
    return Outcome::ok;
  if (tries && (result == EBUSY || result == EAGAIN))
    return Outcome::busy;
  if (timed && result == ETIMEDOUT)
    return Outcome::timeout;
  return Outcome::failed;
}

bool names_thread(EventKind kind) {
  return kind == EventKind::thread_create || kind == EventKind::thread_join ||
         kind == EventKind::thread_detach || kind == EventKind::thread_cancel;
}

}  // namespace longpole::recording
