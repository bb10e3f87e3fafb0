// Spin locks. Apart from waiting for one, which burns CPU time, they are mutexes.
#include "acquire.h"
#include "next_definition.h"
#include "thread_log.h"

using namespace longpole::recorder;

namespace {

inline const void* as_object(const pthread_spinlock_t* lock) {
  return const_cast<const int*>(lock);
}

// Spinning would not let its owner go on. The turn goes round until the lock is free.
int lock_in_lockstep(const Call& call, pthread_spinlock_t* lock) {
  lockstep::take_turn();
  if (resolved_next.pthread_spin_trylock(lock) == 0) {
    record_acquired(call, 0);
    return 0;
  }
  record(stamp(), call, LONGPOLE_BEGINS, 0);
  do {
    lockstep::spin_on(call.object);
  } while (resolved_next.pthread_spin_trylock(lock) != 0);
  record(stamp_after_acquisition(), call, LONGPOLE_RETURNS, 0);
  return 0;
}

}  // namespace

LONGPOLE_HOOK int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_spin_lock(lock);
  }
  const Call call{LONGPOLE_SPIN_LOCK, as_object(lock), LONGPOLE_SITE()};
  if (in_lockstep()) [[unlikely]] {
    return lock_in_lockstep(call, lock);
  }
  return acquire(
      call, [lock] { return attempts.spin(lock); },
      [lock] { return resolved_next.pthread_spin_lock(lock); });
}

LONGPOLE_HOOK int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_spin_trylock(lock);
  }
  take_turn_before_attempt();
  const int result = resolved_next.pthread_spin_trylock(lock);
  record_acquired({LONGPOLE_MUTEX_TRYLOCK, as_object(lock), LONGPOLE_SITE()}, result);
  return result;
}

LONGPOLE_HOOK int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_spin_unlock(lock);
  }
  record_releasing({LONGPOLE_MUTEX_UNLOCK, as_object(lock), LONGPOLE_SITE()});
  const int result = resolved_next.pthread_spin_unlock(lock);
  if (in_lockstep()) [[unlikely]] {
    lockstep::end_spinning_on(as_object(lock));
  }
  return result;
}
