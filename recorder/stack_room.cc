#include "stack_room.h"

#include <sys/auxv.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "next_definition.h"
#include "process.h"
#include "thread_log.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

namespace longpole::recorder {
namespace {

constexpr std::size_t kLarge = 256 * 1024;

// What recording takes of a thread's stack beyond what the program does: a path for a file and a list of stack words in
// the calls that look for them, and a signal with all that the processor saves then.
std::size_t stack_of_recording() {
  constexpr std::size_t kOfCalls = 16 * 1024;
  constexpr std::size_t kPage = 4096;
  static_assert(kOfCalls % kPage == 0);
  return kOfCalls + (getauxval(AT_MINSIGSTKSZ) + kPage - 1) / kPage * kPage;
}

// glibc keeps where the stack ends, nowhere if it is to be found yet.
bool is_on_own_stack(const pthread_attr_t* attributes) {
  void* begin = nullptr;
  std::size_t bytes = 0;
  return resolved_next.pthread_attr_getstack(attributes, &begin, &bytes) != 0 ||
         reinterpret_cast<std::uintptr_t>(begin) + bytes != 0;
}

std::size_t stack_bytes(const pthread_attr_t* attributes) {
  std::size_t bytes = 0;
  return resolved_next.pthread_attr_getstacksize(attributes, &bytes) == 0 ? bytes : SIZE_MAX;
}

// What the program believes the default to be, where it has room beyond that; else 0.
std::size_t default_asked_for = 0;

std::size_t present_default() {
  const std::size_t asked_for = __atomic_load_n(&default_asked_for, __ATOMIC_RELAXED);
  return asked_for == 0 ? 0 : asked_for + stack_of_recording();
}

int set_default(const pthread_attr_t* attributes) {
  const std::size_t bytes = stack_bytes(attributes);
  // Attributes that say nothing of stacks have the present default.
  if (bytes == present_default()) {
    return resolved_next.pthread_setattr_default_np(attributes);
  }
  pthread_attr_t copy = *attributes;  // what they point to is only read
  const bool is_small = bytes < kLarge && !is_on_own_stack(attributes);
  if (is_small) {
    resolved_next.pthread_attr_setstacksize(&copy, bytes + stack_of_recording());
  }
  const int result = resolved_next.pthread_setattr_default_np(&copy);
  if (result == 0) {
    __atomic_store_n(&default_asked_for, is_small ? bytes : 0, __ATOMIC_RELAXED);
  }
  return result;
}

}  // namespace

RoomierAttributes::RoomierAttributes(const pthread_attr_t* attributes) : chosen_(attributes) {
  if (attributes == nullptr) {
    return;
  }
  const std::size_t bytes = stack_bytes(attributes);
  if (bytes < kLarge && bytes != present_default() && !is_on_own_stack(attributes)) {
    copy_ = *attributes;  // what they point to is only read
    resolved_next.pthread_attr_setstacksize(&copy_, bytes + stack_of_recording());
    chosen_ = &copy_;
  }
}

void make_room_on_default_stacks() {
  pthread_attr_t attributes;
  if (resolved_next.pthread_getattr_default_np(&attributes) == 0) {
    if (stack_bytes(&attributes) < kLarge) {
      set_default(&attributes);
    }
    pthread_attr_destroy(&attributes);
  }
}

}  // namespace longpole::recorder

using namespace longpole::recorder;

LONGPOLE_HOOK int pthread_setattr_default_np(const pthread_attr_t* attributes) noexcept {
  return recording() ? set_default(attributes) : next().pthread_setattr_default_np(attributes);
}

LONGPOLE_HOOK int pthread_getattr_default_np(pthread_attr_t* attributes) noexcept {
  const int result = next().pthread_getattr_default_np(attributes);
  if (recording() && result == 0 && stack_bytes(attributes) == present_default()) {
    resolved_next.pthread_attr_setstacksize(attributes,
                                            __atomic_load_n(&default_asked_for, __ATOMIC_RELAXED));
  }
  return result;
}
