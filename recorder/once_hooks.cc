#include "once.h"

#include "next_definition.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

// glibc's word for a control whose routine has run, in every version so far. With another one calls
// would cost more, and nothing else.
constexpr int kDone = 2;

// glibc hands the routine no argument. Calls nest, so the thread keeps a stack of them; a call that an
// exception left is found by the place of its frame and released late.
struct Running {
  pthread_once_t* control;
  void (*routine)();
  const void* site;
  const void* frame;
  bool ran;
  bool released;
};
constexpr int kDeepest = 8;
__thread Running running[kDeepest] __attribute__((tls_model("initial-exec")));
__thread int depth __attribute__((tls_model("initial-exec")));

void release(Running& call) {
  if (call.ran && !call.released) {
    call.released = true;
    record_releasing({LONGPOLE_MUTEX_UNLOCK, call.control, call.site});
  }
}

void drop_abandoned_calls(const void* frame) {
  while (depth > 0 && running[depth - 1].frame <= frame) {
    release(running[depth - 1]);
    --depth;
  }
}

void run_routine() {
  Running& call = running[depth - 1];
  call.ran = true;
  record_returns({LONGPOLE_MUTEX_LOCK, call.control, call.site}, 0);
  call.routine();
  release(call);
}

}  // namespace

void record_once(pthread_once_t* control, void (*routine)(), const void* site, OnceCall call) {
  if (__atomic_load_n(control, __ATOMIC_ACQUIRE) == kDone) [[likely]] {
    return;
  }
  const void* frame = __builtin_frame_address(0);
  drop_abandoned_calls(frame);
  if (depth == kDeepest) {
    call(control, routine);
    return;
  }
  const int own_depth = depth++;
  running[own_depth] = {control, routine, site, frame, false, false};
  record_begins({LONGPOLE_MUTEX_LOCK, control, site});
  call(control, &run_routine);
  depth = own_depth;
  if (!running[own_depth].ran) {
    record_returns({LONGPOLE_MUTEX_LOCK, control, site}, 0);
    record_releasing({LONGPOLE_MUTEX_UNLOCK, control, site});
  }
}

}  // namespace longpole::recorder

using namespace longpole::recorder;

LONGPOLE_HOOK int pthread_once(pthread_once_t* control, void (*routine)()) {
  if (!recording()) [[unlikely]] {
    return next().pthread_once(control, routine);
  }
  record_once(control, routine, LONGPOLE_SITE(),
              [](pthread_once_t* c, void (*r)()) { resolved_next.pthread_once(c, r); });
  return 0;
}
