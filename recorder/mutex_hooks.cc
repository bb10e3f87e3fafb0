// Mutexes of all types. Acquiring tries first, so that only a call that waits takes two stamps;
// what an attempt answers (EBUSY aside) is what the waiting call would have answered.
#include <cerrno>

#include "next_definition.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

template <typename Wait>
inline int acquire(const Call& call, pthread_mutex_t* mutex, Wait wait) {
  int result = resolved_next.pthread_mutex_trylock(mutex);
  if (result != EBUSY) [[likely]] {
    record_acquired(call, result);
    return result;
  }
  record_begins(call);
  result = wait();
  record_returns(call, result);
  return result;
}

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

LONGPOLE_HOOK int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_mutex_lock(mutex);
  }
  return acquire({LONGPOLE_MUTEX_LOCK, mutex, LONGPOLE_SITE()}, mutex,
                 [mutex] { return resolved_next.pthread_mutex_lock(mutex); });
}

LONGPOLE_HOOK int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_mutex_trylock(mutex);
  }
  const int result = resolved_next.pthread_mutex_trylock(mutex);
  record_acquired({LONGPOLE_MUTEX_TRYLOCK, mutex, LONGPOLE_SITE()}, result);
  return result;
}

LONGPOLE_HOOK int pthread_mutex_timedlock(pthread_mutex_t* mutex,
                                          const timespec* deadline) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_mutex_timedlock(mutex, deadline);
  }
  return acquire({LONGPOLE_MUTEX_TIMEDLOCK, mutex, LONGPOLE_SITE()}, mutex, [mutex, deadline] {
    return resolved_next.pthread_mutex_timedlock(mutex, deadline);
  });
}

LONGPOLE_HOOK int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                          const timespec* deadline) noexcept {
  // An unknown clock is refused even when the mutex is free: an attempt would not notice.
  if (!recording() || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)) [[unlikely]] {
    return next().pthread_mutex_clocklock(mutex, clock, deadline);
  }
  return acquire({LONGPOLE_MUTEX_TIMEDLOCK, mutex, LONGPOLE_SITE()}, mutex,
                 [mutex, clock, deadline] {
                   return resolved_next.pthread_mutex_clocklock(mutex, clock, deadline);
                 });
}

LONGPOLE_HOOK int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_mutex_unlock(mutex);
  }
  longpole_record* record = record_releasing({LONGPOLE_MUTEX_UNLOCK, mutex, LONGPOLE_SITE()});
  const int result = resolved_next.pthread_mutex_unlock(mutex);
  correct_result(record, result);
  return result;
}
