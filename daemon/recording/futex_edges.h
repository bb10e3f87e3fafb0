// Who ended which wait for a futex, where the program makes both by system calls of its own.
//
// The kernel wakes those first that wait longest (futex(2), kernel/futex/waitwake.c), and says how many it woke: so
// each of them is the one that began to wait first among those that came back later. A wait in another recorded call
// is that call's way of waiting and none here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "recording/raw_chunks.h"
#include "trace/types.h"

namespace longpole::recording {

// Of one thread.
struct ThreadFutexes {
  std::vector<std::optional<ThreadId>> ended_by;  // of its records of waits that began, in order
  std::vector<std::vector<ThreadId>> woken;       // by those of wakes, in order
};

// `time_of`: of a stamp.
[[nodiscard]] std::vector<ThreadFutexes> find_futex_edges(
    const std::vector<RawThread>& threads,
    const std::function<std::int64_t(std::uint64_t)>& time_of);

}  // namespace longpole::recording
