// Threads that wait for each other where a recording ends: the run was stopped because it stood still.
#pragma once

#include <optional>

#include "trace/recording.h"

namespace longpole::recording {

// The notice "deadlocked": who holds which lock and waits for which, around a cycle of threads that wait for mutexes,
// for rwlocks to write, and for each other's end. None where there is no cycle. Of several, that of the thread with the lowest id.
[[nodiscard]] std::optional<Notice> find_deadlock(const Recording& recording);

}  // namespace longpole::recording
