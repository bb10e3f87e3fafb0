// Read-write locks of all kinds.
#include "acquire.h"
#include "next_definition.h"
#include "thread_log.h"

using namespace longpole::recorder;

namespace {

template <typename Wait>
inline int acquire_to_read(pthread_rwlock_t* lock, const void* site, Wait wait) {
  return acquire(
      {LONGPOLE_RWLOCK_READ, lock, site}, [lock] { return attempts.rwlock_read(lock); }, wait);
}

template <typename Wait>
inline int acquire_to_write(pthread_rwlock_t* lock, const void* site, Wait wait) {
  return acquire(
      {LONGPOLE_RWLOCK_WRITE, lock, site}, [lock] { return attempts.rwlock_write(lock); }, wait);
}

}  // namespace

LONGPOLE_HOOK int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_rwlock_rdlock(lock);
  }
  return acquire_to_read(lock, LONGPOLE_SITE(),
                         [lock] { return resolved_next.pthread_rwlock_rdlock(lock); });
}

LONGPOLE_HOOK int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_rwlock_tryrdlock(lock);
  }
  take_turn_before_attempt();
  const int result = resolved_next.pthread_rwlock_tryrdlock(lock);
  record_acquired({LONGPOLE_RWLOCK_READ, lock, LONGPOLE_SITE()}, result);
  return result;
}

// A malformed deadline and an unknown clock are refused even when the lock is free: an attempt would
// not notice.
LONGPOLE_HOOK int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock,
                                             const timespec* deadline) noexcept {
  if (!recording() || !is_valid(deadline)) [[unlikely]] {
    return next().pthread_rwlock_timedrdlock(lock, deadline);
  }
  return acquire_to_read(lock, LONGPOLE_SITE(), [lock, deadline] {
    return resolved_next.pthread_rwlock_timedrdlock(lock, deadline);
  });
}

LONGPOLE_HOOK int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                             const timespec* deadline) noexcept {
  if (!recording() || !is_waiting_clock(clock) || !is_valid(deadline)) [[unlikely]] {
    return next().pthread_rwlock_clockrdlock(lock, clock, deadline);
  }
  return acquire_to_read(lock, LONGPOLE_SITE(), [lock, clock, deadline] {
    return resolved_next.pthread_rwlock_clockrdlock(lock, clock, deadline);
  });
}

LONGPOLE_HOOK int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_rwlock_wrlock(lock);
  }
  return acquire_to_write(lock, LONGPOLE_SITE(),
                          [lock] { return resolved_next.pthread_rwlock_wrlock(lock); });
}

LONGPOLE_HOOK int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_rwlock_trywrlock(lock);
  }
  take_turn_before_attempt();
  const int result = resolved_next.pthread_rwlock_trywrlock(lock);
  record_acquired({LONGPOLE_RWLOCK_WRITE, lock, LONGPOLE_SITE()}, result);
  return result;
}

LONGPOLE_HOOK int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock,
                                             const timespec* deadline) noexcept {
  if (!recording() || !is_valid(deadline)) [[unlikely]] {
    return next().pthread_rwlock_timedwrlock(lock, deadline);
  }
  return acquire_to_write(lock, LONGPOLE_SITE(), [lock, deadline] {
    return resolved_next.pthread_rwlock_timedwrlock(lock, deadline);
  });
}

LONGPOLE_HOOK int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                             const timespec* deadline) noexcept {
  if (!recording() || !is_waiting_clock(clock) || !is_valid(deadline)) [[unlikely]] {
    return next().pthread_rwlock_clockwrlock(lock, clock, deadline);
  }
  return acquire_to_write(lock, LONGPOLE_SITE(), [lock, clock, deadline] {
    return resolved_next.pthread_rwlock_clockwrlock(lock, clock, deadline);
  });
}

LONGPOLE_HOOK int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_rwlock_unlock(lock);
  }
  longpole_record* record = record_releasing({LONGPOLE_RWLOCK_UNLOCK, lock, LONGPOLE_SITE()});
  const int result = resolved_next.pthread_rwlock_unlock(lock);
  correct_result(record, result);
  return result;
}
