// Barriers.
#include "next_definition.h"
#include "thread_log.h"

using namespace longpole::recorder;

LONGPOLE_HOOK int pthread_barrier_init(pthread_barrier_t* barrier,
                                       const pthread_barrierattr_t* attributes,
                                       unsigned count) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_barrier_init(barrier, attributes, count);
  }
  longpole_record* record =
      record_with_other(stamp(), {LONGPOLE_BARRIER_INIT, barrier, LONGPOLE_SITE()}, 0, count, 0);
  const int result = resolved_next.pthread_barrier_init(barrier, attributes, count);
  correct_result(record, result);
  return result;
}

LONGPOLE_HOOK int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_barrier_wait(barrier);
  }
  const Call call{LONGPOLE_BARRIER_WAIT, barrier, LONGPOLE_SITE()};
  record_begins(call);
  const int result = resolved_next.pthread_barrier_wait(barrier);
  record_returns(call, result == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : result);
  return result;
}
