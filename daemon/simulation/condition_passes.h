// What threads found done that they would have waited for.
//
// Who comes to a condition when its predicate holds already does not wait, and the recorder sees a lock and an unlock. On one
// CPU that is common: who is given a task has often not come to wait for it yet. Yet it needs what it found; a simulation
// that lets it go on before it was given has it work at what does not exist, with locks that those need who would give it.
//
// A pass is such a use of the mutex: one of a thread that waits with it at other times, now did not, and came when a
// notification had been made since it left the mutex last. It asks for that notification, the first of them. A
// thread that now and then goes on without a wait and without a new notification (more than once in ten uses) has no
// passes: it takes from a store, where what it takes may be older than the newest, or takes the mutex for something else.
// Nor has one that waits for several conditions with one mutex: nobody knows which of them it came for.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trace/recording.h"

namespace longpole::simulation {

// A notification: the `count`th of a thread, on any condition that is not governed otherwise.
struct Notified {
  ThreadId by;  // none: no notification
  std::uint32_t count = 0;
};

struct Pass {
  std::uint32_t event = 0;  // of the thread: a mutex_lock
  ObjectId condition;
  Notified found;
};

// Of each thread, in order. Of the conditions that are `paired` alone; `counts` says which events are
// notifications.
[[nodiscard]] std::vector<std::vector<Pass>> find_passes(
    const Recording& recording, const std::vector<bool>& paired,
    const std::function<bool(const Event&)>& counts);

}  // namespace longpole::simulation
