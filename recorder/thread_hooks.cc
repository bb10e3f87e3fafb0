// Threads: their creation, their ends and what waits for them.
#include <cerrno>

#include "call_path.h"
#include "chunk.h"
#include "next_definition.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

// A new thread gets its first chunk from its creator, ready to be written to. On the way the chunk
// carries the thread's argument, in this place.
constexpr std::size_t kArgument = 0;

void* run_thread(void* given) {
  auto* chunk = static_cast<longpole_chunk*>(given);
  auto* function = reinterpret_cast<void* (*)(void*)>(chunk->start_function);
  auto* argument = reinterpret_cast<void*>(chunk->reserved[kArgument]);
  chunk->reserved[kArgument] = 0;
  begin_created_thread(chunk);
  return function(argument);
}

longpole_chunk* chunk_for_new_thread(void* (*function)(void*)) {
  const SignalsBlocked blocked;
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  if (longpole_chunk* spare = thread_log.spare; spare != nullptr) {
    thread_log.spare = nullptr;
    spare->start_function = address;
    return spare;
  }
  const std::uint32_t number = __atomic_fetch_add(&control().next_thread, 1, __ATOMIC_RELAXED);
  return make_chunk(number, 0, thread_log.number, address);
}

template <typename Wait>
inline int join(const Call& call, const void* frame, Wait wait) {
  record_call_path(frame);
  record_begins(call);
  const int result = wait();
  record_returns(call, result);
  return result;
}

inline const void* as_object(pthread_t thread) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(thread));
}

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

LONGPOLE_HOOK int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                 void* (*function)(void*), void* argument) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_create(thread, attributes, function, argument);
  }
  record_call_path(__builtin_frame_address(0));
  longpole_chunk* chunk = chunk_for_new_thread(function);
  if (chunk == nullptr) {
    return resolved_next.pthread_create(thread, attributes, function, argument);
  }
  chunk->reserved[kArgument] = reinterpret_cast<std::uintptr_t>(argument);
  const auto* const number = reinterpret_cast<const void*>(std::uintptr_t{chunk->thread});
  longpole_record* record = record_releasing({LONGPOLE_CREATE, number, LONGPOLE_SITE()});
  const int result = resolved_next.pthread_create(thread, attributes, &run_thread, chunk);
  correct_result(record, result);
  if (result != 0) {
    thread_log.spare = chunk;
  }
  return result;
}

LONGPOLE_HOOK int pthread_join(pthread_t thread, void** value) {
  if (!recording()) [[unlikely]] {
    return next().pthread_join(thread, value);
  }
  return join({LONGPOLE_JOIN, as_object(thread), LONGPOLE_SITE()}, __builtin_frame_address(0),
              [thread, value] { return resolved_next.pthread_join(thread, value); });
}

LONGPOLE_HOOK int pthread_timedjoin_np(pthread_t thread, void** value, const timespec* deadline) {
  if (!recording()) [[unlikely]] {
    return next().pthread_timedjoin_np(thread, value, deadline);
  }
  return join({LONGPOLE_JOIN, as_object(thread), LONGPOLE_SITE()}, __builtin_frame_address(0),
              [thread, value, deadline] {
                return resolved_next.pthread_timedjoin_np(thread, value, deadline);
              });
}

LONGPOLE_HOOK int pthread_clockjoin_np(pthread_t thread, void** value, clockid_t clock,
                                       const timespec* deadline) {
  if (!recording()) [[unlikely]] {
    return next().pthread_clockjoin_np(thread, value, clock, deadline);
  }
  return join({LONGPOLE_JOIN, as_object(thread), LONGPOLE_SITE()}, __builtin_frame_address(0),
              [thread, value, clock, deadline] {
                return resolved_next.pthread_clockjoin_np(thread, value, clock, deadline);
              });
}

LONGPOLE_HOOK int pthread_tryjoin_np(pthread_t thread, void** value) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_tryjoin_np(thread, value);
  }
  const int result = resolved_next.pthread_tryjoin_np(thread, value);
  record_acquired({LONGPOLE_JOIN, as_object(thread), LONGPOLE_SITE()}, result);
  return result;
}

LONGPOLE_HOOK int pthread_detach(pthread_t thread) noexcept {
  if (!recording()) [[unlikely]] {
    return next().pthread_detach(thread);
  }
  longpole_record* record = record_releasing({LONGPOLE_DETACH, as_object(thread), LONGPOLE_SITE()});
  const int result = resolved_next.pthread_detach(thread);
  correct_result(record, result);
  return result;
}

LONGPOLE_HOOK void pthread_exit(void* value) {
  if (recording()) {
    thread_log.exit_site = LONGPOLE_SITE();
  }
  next().pthread_exit(value);
  __builtin_unreachable();
}
