// Spin locks. Apart from waiting for one, which burns CPU time, they are mutexes.
#include "acquire.h"
#include "next_definition.h"
#include "thread_log.h"

using namespace longpole::recorder;

namespace {

inline const void* as_object(const pthread_spinlock_t* lock) {
  return const_cast<const int*>(lock);
}

}  // namespace

LONGPOLE_HOOK int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_spin_lock(lock);
  }
  return acquire(
      {LONGPOLE_SPIN_LOCK, as_object(lock), LONGPOLE_SITE()},
      [lock] { return attempts.spin(lock); },
      [lock] { return resolved_next.pthread_spin_lock(lock); });
}

LONGPOLE_HOOK int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_spin_trylock(lock);
  }
  const int result = resolved_next.pthread_spin_trylock(lock);
  record_acquired({LONGPOLE_MUTEX_TRYLOCK, as_object(lock), LONGPOLE_SITE()}, result);
  return result;
}

LONGPOLE_HOOK int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_spin_unlock(lock);
  }
  record_releasing({LONGPOLE_MUTEX_UNLOCK, as_object(lock), LONGPOLE_SITE()});
  return resolved_next.pthread_spin_unlock(lock);
}
