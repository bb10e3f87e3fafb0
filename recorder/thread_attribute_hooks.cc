// Names and priorities of threads. Who is bound to which CPU is in cpu_count_hooks.cc.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <cstdarg>
#include <cstring>

#include "next_definition.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

constexpr std::size_t kLongestName = 16;

void record_name(pthread_t thread, const char* name) {
  std::uint64_t words[2] = {};
  static_assert(sizeof(words) == kLongestName);
  std::memcpy(words, name, strnlen(name, kLongestName));
  write_record(stamp(), LONGPOLE_THREAD_NAME, 0, words[0], words[1],
               static_cast<std::uint64_t>(thread), 0);
}

void record_priority(std::uint64_t thread, std::uint64_t how_named, int priority,
                     const void* site) {
  if (recording()) {
    write_record(stamp(), LONGPOLE_PRIORITY, 0, thread, reinterpret_cast<std::uintptr_t>(site),
                 static_cast<std::uint32_t>(priority) | how_named, 0);
  }
}

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

LONGPOLE_HOOK int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  const int result = next().pthread_setname_np(thread, name);
  if (recording() && result == 0) {
    record_name(thread, name);
  }
  return result;
}

LONGPOLE_HOOK int prctl(int option, ...) noexcept {
  va_list arguments;
  va_start(arguments, option);
  unsigned long values[4];
  for (unsigned long& value : values) {
    value = va_arg(arguments, unsigned long);
  }
  va_end(arguments);
  const int result = next().prctl(option, values[0], values[1], values[2], values[3]);
  if (recording() && result == 0 && option == PR_SET_NAME) {
    record_name(pthread_self(), reinterpret_cast<const char*>(values[0]));
  }
  return result;
}

LONGPOLE_HOOK int pthread_setschedparam(pthread_t thread, int policy,
                                        const sched_param* parameters) noexcept {
  const int result = next().pthread_setschedparam(thread, policy, parameters);
  if (result == 0) {
    record_priority(static_cast<std::uint64_t>(thread), 0, parameters->sched_priority,
                    LONGPOLE_SITE());
  }
  return result;
}

LONGPOLE_HOOK int pthread_setschedprio(pthread_t thread, int priority) noexcept {
  const int result = next().pthread_setschedprio(thread, priority);
  if (result == 0) {
    record_priority(static_cast<std::uint64_t>(thread), 0, priority, LONGPOLE_SITE());
  }
  return result;
}

// On Linux a process of this call is a thread, and the nicer it is the lower its priority.
LONGPOLE_HOOK int setpriority(__priority_which_t which, id_t thread, int niceness) noexcept {
  const int result = next().setpriority(which, thread, niceness);
  if (result == 0 && which == PRIO_PROCESS) {
    if (thread == 0) {
      record_priority(static_cast<std::uint64_t>(pthread_self()), 0, -niceness, LONGPOLE_SITE());
    } else {
      record_priority(thread, LONGPOLE_BY_THREAD_ID, -niceness, LONGPOLE_SITE());
    }
  }
  return result;
}
