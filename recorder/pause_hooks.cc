// Giving up the CPU: yielding and sleeping.
#include <sched.h>
#include <time.h>
#include <unistd.h>
#include <cerrno>

#include "next_definition.h"
#include "sampling.h"
#include "thread_log.h"
#include "yields_before_waits.h"

namespace longpole::recorder {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

std::uint64_t in_nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// How long a call asks to sleep. Nobody knows of a malformed request, which is refused at once.
std::uint64_t asked_for(const timespec* request) {
  return request == nullptr || request->tv_sec < 0 || request->tv_nsec < 0
             ? 0
             : in_nanoseconds(*request);
}

std::uint64_t until(clockid_t clock, const timespec* deadline) {
  timespec now;
  const int errno_before = errno;
  if (deadline == nullptr || clock_gettime(clock, &now) != 0) {
    errno = errno_before;
    return 0;
  }
  const std::uint64_t end = asked_for(deadline);
  const std::uint64_t begin = in_nanoseconds(now);
  return end > begin ? end - begin : 0;
}

template <typename Sleep>
inline auto sleep_recorded(std::uint64_t nanoseconds, const void* site, Sleep sleep) {
  const Call call{LONGPOLE_SLEEP, reinterpret_cast<const void*>(nanoseconds), site};
  record_begins(call);
  decltype(sleep()) result;
  {
    const SamplingHeldBack held_back;
    result = sleep();
  }
  record_returns(call, 0);
  return result;
}

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

LONGPOLE_HOOK int nanosleep(const timespec* request, timespec* remaining) {
  if (!recording()) [[unlikely]] {
    return next().nanosleep(request, remaining);
  }
  return sleep_recorded(asked_for(request), LONGPOLE_SITE(), [request, remaining] {
    return resolved_next.nanosleep(request, remaining);
  });
}

LONGPOLE_HOOK int clock_nanosleep(clockid_t clock, int flags, const timespec* request,
                                  timespec* remaining) {
  if (!recording()) [[unlikely]] {
    return next().clock_nanosleep(clock, flags, request, remaining);
  }
  const std::uint64_t nanoseconds =
      (flags & TIMER_ABSTIME) != 0 ? until(clock, request) : asked_for(request);
  return sleep_recorded(nanoseconds, LONGPOLE_SITE(), [clock, flags, request, remaining] {
    return resolved_next.clock_nanosleep(clock, flags, request, remaining);
  });
}

LONGPOLE_HOOK int usleep(useconds_t microseconds) {
  if (!recording()) [[unlikely]] {
    return next().usleep(microseconds);
  }
  return sleep_recorded(std::uint64_t{microseconds} * 1000, LONGPOLE_SITE(),
                        [microseconds] { return resolved_next.usleep(microseconds); });
}

LONGPOLE_HOOK unsigned sleep(unsigned seconds) {
  if (!recording()) [[unlikely]] {
    return next().sleep(seconds);
  }
  return sleep_recorded(seconds * kSecond, LONGPOLE_SITE(),
                        [seconds] { return resolved_next.sleep(seconds); });
}

LONGPOLE_HOOK int thrd_sleep(const timespec* request, timespec* remaining) {
  if (!recording()) [[unlikely]] {
    return next().thrd_sleep(request, remaining);
  }
  return sleep_recorded(asked_for(request), LONGPOLE_SITE(), [request, remaining] {
    return resolved_next.thrd_sleep(request, remaining);
  });
}

LONGPOLE_HOOK int sched_yield() noexcept {
  if (!recording() || thread_log.waits_in_runtime) [[unlikely]] {
    return next().sched_yield();
  }
  if (record_yield_before_wait(LONGPOLE_SITE())) {
    return 0;
  }
  record_releasing({LONGPOLE_YIELD, nullptr, LONGPOLE_SITE()});
  return resolved_next.sched_yield();
}

// What programs call that were linked when it was a function of its own. The headers of today turn
// it into sched_yield.
extern "C" __attribute__((visibility("default"))) int yield_of_old_programs() noexcept
    __asm__("pthread_yield");
int yield_of_old_programs() noexcept {
  if (!recording() || thread_log.waits_in_runtime) [[unlikely]] {
    return next().sched_yield();
  }
  record_releasing({LONGPOLE_YIELD, nullptr, LONGPOLE_SITE()});
  return resolved_next.sched_yield();
}

LONGPOLE_HOOK void thrd_yield() {
  if (!recording()) [[unlikely]] {
    return next().thrd_yield();
  }
  record_releasing({LONGPOLE_YIELD, nullptr, LONGPOLE_SITE()});
  resolved_next.thrd_yield();
}
