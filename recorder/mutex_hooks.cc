// Mutexes of all types.
#include "acquire.h"
#include "next_definition.h"
#include "thread_log.h"

using namespace longpole::recorder;

namespace {

template <auto kRecordAcquired = &record_acquired, typename Wait>
inline int acquire_mutex(const Call& call, pthread_mutex_t* mutex, Wait wait) {
  return acquire<kRecordAcquired>(
      call, [mutex] { return attempts.mutex(mutex); }, wait);
}

// Others answer a thread that waits otherwise than one that tries, or the kernel does something for their owners meanwhile.
bool can_be_tried_again(const pthread_mutex_t* mutex) {
  constexpr int kKinds = 127;
  const int kind = mutex->__data.__kind & kKinds;
  return attempts.mutex == resolved_next.pthread_mutex_trylock &&
         (kind == PTHREAD_MUTEX_TIMED_NP || kind == PTHREAD_MUTEX_RECURSIVE_NP ||
          kind == PTHREAD_MUTEX_ADAPTIVE_NP);
}

int wait_for_mutex(pthread_mutex_t* mutex) {
  while (in_lockstep() && can_be_tried_again(mutex) && lockstep::await_release(mutex)) {
    if (const int result = attempts.mutex(mutex); result != EBUSY) {
      return result;
    }
    lockstep::step_out(LONGPOLE_MUTEX_LOCK, mutex, nullptr);
  }
  return resolved_next.pthread_mutex_lock(mutex);
}

}  // namespace

LONGPOLE_HOOK int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_mutex_lock(mutex);
  }
  return acquire_mutex<&record_acquired_inline>({LONGPOLE_MUTEX_LOCK, mutex, LONGPOLE_SITE()},
                                                mutex, [mutex] { return wait_for_mutex(mutex); });
}

LONGPOLE_HOOK int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_mutex_trylock(mutex);
  }
  take_turn_before_attempt();
  const int result = resolved_next.pthread_mutex_trylock(mutex);
  record_acquired({LONGPOLE_MUTEX_TRYLOCK, mutex, LONGPOLE_SITE()}, result);
  return result;
}

LONGPOLE_HOOK int pthread_mutex_timedlock(pthread_mutex_t* mutex,
                                          const timespec* deadline) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_mutex_timedlock(mutex, deadline);
  }
  return acquire_mutex(
      {LONGPOLE_MUTEX_TIMEDLOCK, mutex, LONGPOLE_SITE()}, mutex,
      [mutex, deadline] { return resolved_next.pthread_mutex_timedlock(mutex, deadline); });
}

LONGPOLE_HOOK int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                          const timespec* deadline) noexcept {
  // An unknown clock is refused even when the mutex is free: an attempt would not notice.
  if (!recording() || !is_waiting_clock(clock)) [[unlikely]] {
    return next().pthread_mutex_clocklock(mutex, clock, deadline);
  }
  return acquire_mutex({LONGPOLE_MUTEX_TIMEDLOCK, mutex, LONGPOLE_SITE()}, mutex,
                       [mutex, clock, deadline] {
                         return resolved_next.pthread_mutex_clocklock(mutex, clock, deadline);
                       });
}

LONGPOLE_HOOK int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_mutex_unlock(mutex);
  }
  longpole_record* record =
      record_releasing_inline({LONGPOLE_MUTEX_UNLOCK, mutex, LONGPOLE_SITE()});
  const int result = resolved_next.pthread_mutex_unlock(mutex);
  correct_result(record, result);
  return result;
}
