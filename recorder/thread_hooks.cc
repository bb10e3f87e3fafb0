// Threads: their creation, their ends and what waits for them.
#include <cerrno>
#include <cstddef>

#include "c11_results.h"
#include "call_path.h"
#include "chunk.h"
#include "next_definition.h"
#include "stack_room.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

// A new thread gets its first chunk from its creator, ready to be written to. On the way the chunk
// carries the thread's argument.
template <typename Result>
Result run_thread(void* given) {
  auto* chunk = static_cast<longpole_chunk*>(given);
  auto* function = reinterpret_cast<Result (*)(void*)>(chunk->start_function);
  auto* argument = reinterpret_cast<void*>(chunk->argument);
  chunk->argument = 0;
  begin_created_thread(chunk);
  return function(argument);
}

longpole_chunk* chunk_for_new_thread(std::uintptr_t address, void* argument) {
  const SignalsBlocked blocked;
  longpole_chunk* chunk = thread_log.spare;
  if (chunk != nullptr) {
    thread_log.spare = nullptr;
    chunk->start_function = address;
  } else {
    const std::uint64_t begin = stamp();
    const std::uint32_t number = __atomic_fetch_add(&control().next_thread, 1, __ATOMIC_RELAXED);
    chunk = make_chunk(number, 0, thread_log.number, address);
    record_overhead(begin);
  }
  if (chunk != nullptr) {
    chunk->argument = reinterpret_cast<std::uintptr_t>(argument);
  }
  return chunk;
}

// `start`: begins the thread with the function that it is given. `function` and `argument`: what the
// program wants it to run. `error_of`: what the result means as errno value.
template <typename Function, typename Start, typename ErrorOf>
inline int create(Function* function, void* argument, const void* site, const void* frame,
                  Start start, ErrorOf error_of) {
  longpole_chunk* chunk =
      chunk_for_new_thread(reinterpret_cast<std::uintptr_t>(function), argument);
  if (chunk == nullptr) {
    return start(function, argument);
  }
  record_call_path(frame);
  const auto* number = reinterpret_cast<const void*>(std::uintptr_t{chunk->thread});
  longpole_record* record = record_releasing({LONGPOLE_CREATE, number, site});
  using Result = decltype(function(argument));
  const int result = start(&run_thread<Result>, chunk);
  correct_result(record, error_of(result));
  if (result != 0) {
    thread_log.spare = chunk;
  }
  return result;
}

constexpr int as_it_is(int result) {
  return result;
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
  const RoomierAttributes roomier(attributes);
  return create(
      function, argument, LONGPOLE_SITE(), __builtin_frame_address(0),
      [thread, &roomier](void* (*run)(void*), void* given) {
        return resolved_next.pthread_create(thread, roomier.get(), run, given);
      },
      as_it_is);
}

LONGPOLE_HOOK int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  if (!recording()) [[unlikely]] {
    return next().thrd_create(thread, function, argument);
  }
  return create(
      function, argument, LONGPOLE_SITE(), __builtin_frame_address(0),
      [thread](thrd_start_t run, void* given) {
        return resolved_next.thrd_create(thread, run, given);
      },
      errno_of_c11);
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

LONGPOLE_HOOK int thrd_join(thrd_t thread, int* value) {
  if (!recording()) [[unlikely]] {
    return next().thrd_join(thread, value);
  }
  const Call call{LONGPOLE_JOIN, as_object(thread), LONGPOLE_SITE()};
  record_call_path(__builtin_frame_address(0));
  record_begins(call);
  const int result = resolved_next.thrd_join(thread, value);
  record_returns(call, errno_of_c11(result));
  return result;
}

LONGPOLE_HOOK int thrd_detach(thrd_t thread) {
  if (!recording()) [[unlikely]] {
    return next().thrd_detach(thread);
  }
  longpole_record* record = record_releasing({LONGPOLE_DETACH, as_object(thread), LONGPOLE_SITE()});
  const int result = resolved_next.thrd_detach(thread);
  correct_result(record, errno_of_c11(result));
  return result;
}

LONGPOLE_HOOK void thrd_exit(int value) {
  if (recording()) {
    thread_log.exit_site = LONGPOLE_SITE();
  }
  next().thrd_exit(value);
  __builtin_unreachable();
}

// The stamp is from before the call: the thread may end at once.
LONGPOLE_HOOK int pthread_cancel(pthread_t thread) {
  if (!recording()) [[unlikely]] {
    return next().pthread_cancel(thread);
  }
  longpole_record* record = record_releasing({LONGPOLE_CANCEL, as_object(thread), LONGPOLE_SITE()});
  const int result = resolved_next.pthread_cancel(thread);
  correct_result(record, result);
  return result;
}
