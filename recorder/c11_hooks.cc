// C11's mutexes, conditions and call_once. glibc's own do not go through the names of POSIX, so each
// needs a hook. Threads are in thread_hooks.cc, pauses in pause_hooks.cc.
#include <threads.h>

#include "acquire.h"
#include "c11_results.h"
#include "next_definition.h"
#include "once.h"
#include "thread_log.h"

using namespace longpole::recorder;

namespace {

template <typename Wait>
inline int acquire_mtx(const Call& call, mtx_t* mutex, Wait wait) {
  take_turn_before_attempt();
  int result = attempts.mtx(mutex);
  if (result != thrd_busy) [[likely]] {
    record_acquired(call, errno_of_c11(result));
    return result;
  }
  record_begins(call);
  result = wait();
  record_returns(call, errno_of_c11(result));
  return result;
}

template <typename Wait>
inline int wait_on_cnd(const Call& call, const mtx_t* mutex, Wait wait) {
  record_begins_giving_up(call, mutex);
  const int result = wait();
  record_returns_with(call, mutex, errno_of_c11(result));
  return result;
}

}  // namespace

LONGPOLE_HOOK int mtx_lock(mtx_t* mutex) {
  if (!recording()) [[unlikely]] {
    return next().mtx_lock(mutex);
  }
  return acquire_mtx({LONGPOLE_MUTEX_LOCK, mutex, LONGPOLE_SITE()}, mutex,
                     [mutex] { return resolved_next.mtx_lock(mutex); });
}

LONGPOLE_HOOK int mtx_timedlock(mtx_t* mutex, const timespec* deadline) {
  if (!recording()) [[unlikely]] {
    return next().mtx_timedlock(mutex, deadline);
  }
  return acquire_mtx({LONGPOLE_MUTEX_TIMEDLOCK, mutex, LONGPOLE_SITE()}, mutex,
                     [mutex, deadline] { return resolved_next.mtx_timedlock(mutex, deadline); });
}

LONGPOLE_HOOK int mtx_trylock(mtx_t* mutex) {
  if (!recording()) [[unlikely]] {
    return next().mtx_trylock(mutex);
  }
  take_turn_before_attempt();
  const int result = resolved_next.mtx_trylock(mutex);
  record_acquired({LONGPOLE_MUTEX_TRYLOCK, mutex, LONGPOLE_SITE()}, errno_of_c11(result));
  return result;
}

LONGPOLE_HOOK int mtx_unlock(mtx_t* mutex) {
  if (!recording()) [[unlikely]] {
    return next().mtx_unlock(mutex);
  }
  longpole_record* record = record_releasing({LONGPOLE_MUTEX_UNLOCK, mutex, LONGPOLE_SITE()});
  const int result = resolved_next.mtx_unlock(mutex);
  correct_result(record, errno_of_c11(result));
  return result;
}

LONGPOLE_HOOK int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  if (!recording()) [[unlikely]] {
    return next().cnd_wait(condition, mutex);
  }
  return wait_on_cnd({LONGPOLE_CONDITION_WAIT, condition, LONGPOLE_SITE()}, mutex,
                     [condition, mutex] { return resolved_next.cnd_wait(condition, mutex); });
}

LONGPOLE_HOOK int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* deadline) {
  if (!recording()) [[unlikely]] {
    return next().cnd_timedwait(condition, mutex, deadline);
  }
  return wait_on_cnd({LONGPOLE_CONDITION_TIMEDWAIT, condition, LONGPOLE_SITE()}, mutex,
                     [condition, mutex, deadline] {
                       return resolved_next.cnd_timedwait(condition, mutex, deadline);
                     });
}

LONGPOLE_HOOK int cnd_signal(cnd_t* condition) {
  if (!recording()) [[unlikely]] {
    return next().cnd_signal(condition);
  }
  longpole_record* record =
      record_releasing({LONGPOLE_CONDITION_SIGNAL, condition, LONGPOLE_SITE()});
  const int result = resolved_next.cnd_signal(condition);
  correct_result(record, errno_of_c11(result));
  return result;
}

LONGPOLE_HOOK int cnd_broadcast(cnd_t* condition) {
  if (!recording()) [[unlikely]] {
    return next().cnd_broadcast(condition);
  }
  longpole_record* record =
      record_releasing({LONGPOLE_CONDITION_BROADCAST, condition, LONGPOLE_SITE()});
  const int result = resolved_next.cnd_broadcast(condition);
  correct_result(record, errno_of_c11(result));
  return result;
}

LONGPOLE_HOOK void call_once(once_flag* flag, void (*routine)()) {
  if (!recording()) [[unlikely]] {
    next().call_once(flag, routine);
    return;
  }
  static_assert(sizeof(once_flag) == sizeof(pthread_once_t), "glibc's two are the same");
  record_once(reinterpret_cast<pthread_once_t*>(flag), routine, LONGPOLE_SITE(),
              [](pthread_once_t* control, void (*run)()) {
                resolved_next.call_once(reinterpret_cast<once_flag*>(control), run);
              });
}
