// POSIX semaphores. They answer through errno, which must come out as without the recorder: success
// leaves it alone, however the attempt before it ended.
#include "semaphore_hooks.h"

#include <fcntl.h>
#include <cerrno>
#include <cstdarg>

#include "acquire.h"
#include "next_definition.h"
#include "sampling.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

inline int error_of(int result) {
  return result == 0 ? 0 : errno;
}

template <typename Wait>
inline int acquire_unit(const Call& call, sem_t* semaphore, Wait wait) {
  // The waiting calls are cancellation points even when they need not wait; an attempt is none.
  resolved_next.pthread_testcancel();
  take_turn_before_attempt();
  const int errno_before = errno;
  if (attempts.semaphore(semaphore) == 0) [[likely]] {
    record_acquired(call, 0);
    return 0;
  }
  errno = errno_before;
  record_begins(call);
  const int result = wait();
  record_returns(call, error_of(result));
  return result;
}

// With a deadline the system call is not made again behind a signal handler, whatever that asks for (signal(7)).
template <typename Wait>
inline int acquire_unit_until(const Call& call, sem_t* semaphore, Wait wait) {
  return acquire_unit(call, semaphore, [wait] {
    const SamplingHeldBack held_back;
    return wait();
  });
}

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

LONGPOLE_HOOK int sem_init(sem_t* semaphore, int shared, unsigned value) noexcept {
  if (!recording()) [[unlikely]] {
    return next().sem_init(semaphore, shared, value);
  }
  longpole_record* record = record_with_other(
      stamp(), {LONGPOLE_SEMAPHORE_INIT, semaphore, LONGPOLE_SITE()}, 0, value, 0);
  const int result = resolved_next.sem_init(semaphore, shared, value);
  correct_result(record, error_of(result));
  return result;
}

LONGPOLE_HOOK sem_t* sem_open(const char* name, int flags, ...) noexcept {
  sem_t* semaphore;
  if ((flags & O_CREAT) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t permissions = va_arg(arguments, mode_t);
    const unsigned value = va_arg(arguments, unsigned);
    va_end(arguments);
    semaphore = next().sem_open(name, flags, permissions, value);
  } else {
    semaphore = next().sem_open(name, flags);
  }
  int value = 0;
  if (recording() && semaphore != SEM_FAILED &&
      resolved_next.sem_getvalue(semaphore, &value) == 0) {
    record_with_other(stamp(), {LONGPOLE_SEMAPHORE_INIT, semaphore, LONGPOLE_SITE()}, 0,
                      static_cast<std::uint64_t>(value), 0);
  }
  return semaphore;
}

LONGPOLE_HOOK int sem_wait(sem_t* semaphore) {
  if (!recording()) [[unlikely]] {
    return next().sem_wait(semaphore);
  }
  return acquire_unit({LONGPOLE_SEMAPHORE_WAIT, semaphore, LONGPOLE_SITE()}, semaphore,
                      [semaphore] { return resolved_next.sem_wait(semaphore); });
}

LONGPOLE_HOOK int sem_trywait(sem_t* semaphore) noexcept {
  if (!recording()) [[unlikely]] {
    return next().sem_trywait(semaphore);
  }
  take_turn_before_attempt();
  const int result = resolved_next.sem_trywait(semaphore);
  record_acquired({LONGPOLE_SEMAPHORE_TRYWAIT, semaphore, LONGPOLE_SITE()}, error_of(result));
  return result;
}

LONGPOLE_HOOK int sem_timedwait(sem_t* semaphore, const timespec* deadline) {
  // A malformed deadline is refused even when the semaphore is free: an attempt would not notice.
  if (!recording() || !is_valid(deadline)) [[unlikely]] {
    return next().sem_timedwait(semaphore, deadline);
  }
  return acquire_unit_until(
      {LONGPOLE_SEMAPHORE_TIMEDWAIT, semaphore, LONGPOLE_SITE()}, semaphore,
      [semaphore, deadline] { return resolved_next.sem_timedwait(semaphore, deadline); });
}

LONGPOLE_HOOK int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* deadline) {
  if (!recording() || !is_waiting_clock(clock) || !is_valid(deadline)) [[unlikely]] {
    return next().sem_clockwait(semaphore, clock, deadline);
  }
  return acquire_unit_until({LONGPOLE_SEMAPHORE_TIMEDWAIT, semaphore, LONGPOLE_SITE()}, semaphore,
                            [semaphore, clock, deadline] {
                              return resolved_next.sem_clockwait(semaphore, clock, deadline);
                            });
}

LONGPOLE_HOOK int sem_post(sem_t* semaphore) noexcept {
  if (!recording()) [[unlikely]] {
    return next().sem_post(semaphore);
  }
  longpole_record* record = record_releasing({LONGPOLE_SEMAPHORE_POST, semaphore, LONGPOLE_SITE()});
  const int result = resolved_next.sem_post(semaphore);
  correct_result(record, error_of(result));
  return result;
}

extern "C" int longpole_post(sem_t*) noexcept __attribute__((alias("sem_post")));
extern "C" int longpole_trywait(sem_t*) noexcept __attribute__((alias("sem_trywait")));
extern "C" int longpole_wait(sem_t*) __attribute__((alias("sem_wait")));
