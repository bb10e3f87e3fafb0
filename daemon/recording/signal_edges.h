// Who ended which wait for a signal, and who cancelled whom in which call.
//
// The kernel says neither, but the records do nearly always: a signal that a thread of the program sent
// to another one, or to the whole process, ends the wait that came to its end next and wanted it. Of
// several it is the first that came while the thread waited. One that came before, and was
// pending, ends only a wait that was over at once. A signal from SIGRTMIN on ends one wait each time it is
// sent; of the others, all that came before the end of the wait are one. What ends no wait of a thread of
// the program, as a handler takes it, wakes nobody here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "recording/raw_chunks.h"
#include "trace/types.h"

namespace longpole::recording {

struct SignalEdge {
  ThreadId woken;
  int signal = 0;  // 0: it was cancelled

  friend bool operator==(const SignalEdge&, const SignalEdge&) = default;
};

// Of one thread.
struct ThreadSignals {
  struct Wait {
    std::optional<SignalEdge> ended_by;  // none: from outside the program, or not at all
    bool returned = false;
  };
  std::vector<std::optional<SignalEdge>> sends;    // of its records of signals sent, in order
  std::vector<Wait> waits;                         // of those of waits that began
  std::vector<std::optional<SignalEdge>> cancels;  // of those of cancellations
  std::optional<std::uint64_t> cancelled_in;       // the stamp at which that call began
  std::int64_t cancelled_at = 0;  // by the clock of times, where it is cancelled in a call
};

struct SignalContext {
  std::function<std::int64_t(std::uint64_t)> time_of;                     // of a stamp
  std::function<ThreadId(std::uint64_t, std::int64_t)> thread_of_handle;  // at some time
  std::function<ThreadId(std::int32_t, std::int64_t)> thread_of_tid;
};

[[nodiscard]] std::vector<ThreadSignals> find_signal_edges(const std::vector<RawThread>& threads,
                                                           const SignalContext& context);

}  // namespace longpole::recording
