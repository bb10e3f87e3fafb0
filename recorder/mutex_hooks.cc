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

}  // namespace

LONGPOLE_HOOK int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_mutex_lock(mutex);
  }
  return acquire_mutex<&record_acquired_inline>(
      {LONGPOLE_MUTEX_LOCK, mutex, LONGPOLE_SITE()}, mutex,
      [mutex] { return resolved_next.pthread_mutex_lock(mutex); });
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
