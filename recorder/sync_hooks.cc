// What longpole/sync.h tells of C++20's ways to wait: the same records as of their POSIX kin.
#include <cerrno>

#include "longpole/sync_calls.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

// An atomic is a condition and its mutex at once. Who waits has the mutex just for the wait.
void begin_atomic_wait(const void* atomic, const void* site) {
  record_acquired({LONGPOLE_MUTEX_LOCK, atomic, site}, 0);
  record_begins_giving_up({LONGPOLE_CONDITION_WAIT, atomic, site}, atomic);
}

void end_atomic_wait(const void* atomic, const void* site) {
  record_returns_with({LONGPOLE_CONDITION_WAIT, atomic, site}, atomic, 0);
  record_releasing({LONGPOLE_MUTEX_UNLOCK, atomic, site});
}

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

LONGPOLE_HOOK void longpole_sync_record(std::uint32_t call, const void* object,
                                        std::uint64_t value) {
  using Told = longpole::sync::detail::Call;
  if (!recording()) [[unlikely]] {
    return;
  }
  const void* site = LONGPOLE_SITE();
  switch (static_cast<Told>(call)) {
    case Told::semaphore_initial:
      record_with_other(stamp(), {LONGPOLE_SEMAPHORE_INIT, object, site}, 0, value, 0);
      break;
    case Told::semaphore_acquired:
      record_acquired({LONGPOLE_SEMAPHORE_WAIT, object, site}, 0);
      break;
    case Told::semaphore_begins:
      record_begins({LONGPOLE_SEMAPHORE_WAIT, object, site});
      break;
    case Told::semaphore_returns:
      record_returns({LONGPOLE_SEMAPHORE_WAIT, object, site}, 0);
      break;
    case Told::semaphore_tried:
      record_acquired({LONGPOLE_SEMAPHORE_TRYWAIT, object, site}, value != 0 ? 0 : EAGAIN);
      break;
    case Told::semaphore_timed_begins:
      record_begins({LONGPOLE_SEMAPHORE_TIMEDWAIT, object, site});
      break;
    case Told::semaphore_timed_returns:
      record_returns({LONGPOLE_SEMAPHORE_TIMEDWAIT, object, site}, value != 0 ? 0 : ETIMEDOUT);
      break;
    case Told::semaphore_post:
      record_releasing({LONGPOLE_SEMAPHORE_POST, object, site});
      break;
    case Told::barrier_initial:
      record_with_other(stamp(), {LONGPOLE_BARRIER_INIT, object, site}, 0, value, 0);
      break;
    case Told::barrier_begins:
      record_begins({LONGPOLE_BARRIER_WAIT, object, site});
      break;
    case Told::barrier_returns:
      record_returns({LONGPOLE_BARRIER_WAIT, object, site}, 0);
      break;
    case Told::atomic_begins:
      begin_atomic_wait(object, site);
      break;
    case Told::atomic_returns:
      end_atomic_wait(object, site);
      break;
    case Told::atomic_notify_one:
      record_releasing({LONGPOLE_CONDITION_SIGNAL, object, site});
      break;
    case Told::atomic_notify_all:
      record_releasing({LONGPOLE_CONDITION_BROADCAST, object, site});
      break;
  }
}
