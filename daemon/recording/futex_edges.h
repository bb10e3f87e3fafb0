// Who ended which wait for a futex, where the program makes both by system calls of its own.
//
// The kernel wakes those first that wait longest (futex(2), kernel/futex/waitwake.c), and says how many it woke: so
// each of them is the one that began to wait first among those that came back later. A wait in another recorded call
// is that call's way of waiting and none here. A wait that the kernel refused, as what it waits for had changed (EAGAIN),
// was ended by the wake-up that came between its call and the kernel, if any did. In lockstep, one whose thread waited for its
// turn when the program ended was over before.
//
// Waits of std::barrier's are waits for all who come: who wakes the others is the last to come in this run, and may be another
// one on another number of CPUs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "recording/raw_chunks.h"
#include "trace/types.h"

namespace longpole::recording {

// Those who came to a barrier together: of the same address the same threads have the same number.
struct FutexBarrier {
  std::uint32_t number = 0;
  std::uint32_t parties = 0;
};

// Of one thread.
struct ThreadFutexes {
  struct Wait {
    std::optional<ThreadId> ended_by;
    std::optional<FutexBarrier> barrier;
  };
  struct Wake {
    std::vector<ThreadId> woken;
    std::optional<FutexBarrier> barrier;
  };
  std::vector<Wait> waits;  // of its records of waits that began, in order
  std::vector<Wake> wakes;  // of those of wakes, in order
};

// Whether a wait with this call path, return addresses from the inside out, is one of a barrier's.
using IsBarrierWait = std::function<bool(std::span<const std::uint64_t> path)>;

// `time_of`: of a stamp.
[[nodiscard]] std::vector<ThreadFutexes> find_futex_edges(
    const std::vector<RawThread>& threads,
    const std::function<std::int64_t(std::uint64_t)>& time_of,
    const IsBarrierWait& is_barrier_wait);

}  // namespace longpole::recording
