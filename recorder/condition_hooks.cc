// Condition variables. A wait always takes two records: it gives its mutex up even when it does not
// wait for long.
#include "next_definition.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

template <typename Wait>
inline int wait_on_condition(const Call& call, const pthread_mutex_t* mutex, Wait wait) {
  record_begins_giving_up(call, mutex);
  const int result = wait();
  record_returns_with(call, mutex, result);
  return result;
}

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

LONGPOLE_HOOK int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (!recording()) [[unlikely]] {
    return next().pthread_cond_wait(condition, mutex);
  }
  return wait_on_condition(
      {LONGPOLE_CONDITION_WAIT, condition, LONGPOLE_SITE()}, mutex,
      [condition, mutex] { return resolved_next.pthread_cond_wait(condition, mutex); });
}

LONGPOLE_HOOK int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                         const timespec* deadline) {
  if (!recording()) [[unlikely]] {
    return next().pthread_cond_timedwait(condition, mutex, deadline);
  }
  return wait_on_condition({LONGPOLE_CONDITION_TIMEDWAIT, condition, LONGPOLE_SITE()}, mutex,
                           [condition, mutex, deadline] {
                             return resolved_next.pthread_cond_timedwait(condition, mutex,
                                                                         deadline);
                           });
}

LONGPOLE_HOOK int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                         clockid_t clock, const timespec* deadline) {
  if (!recording()) [[unlikely]] {
    return next().pthread_cond_clockwait(condition, mutex, clock, deadline);
  }
  return wait_on_condition({LONGPOLE_CONDITION_TIMEDWAIT, condition, LONGPOLE_SITE()}, mutex,
                           [condition, mutex, clock, deadline] {
                             return resolved_next.pthread_cond_clockwait(condition, mutex, clock,
                                                                         deadline);
                           });
}

LONGPOLE_HOOK int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_cond_signal(condition);
  }
  longpole_record* record =
      record_releasing({LONGPOLE_CONDITION_SIGNAL, condition, LONGPOLE_SITE()});
  const int result = resolved_next.pthread_cond_signal(condition);
  correct_result(record, result);
  return result;
}

LONGPOLE_HOOK int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_cond_broadcast(condition);
  }
  longpole_record* record =
      record_releasing({LONGPOLE_CONDITION_BROADCAST, condition, LONGPOLE_SITE()});
  const int result = resolved_next.pthread_cond_broadcast(condition);
  correct_result(record, result);
  return result;
}
