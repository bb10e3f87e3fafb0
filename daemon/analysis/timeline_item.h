// What is at one place of an execution, and the calls around it (thesis, Paper I section 3.3: the
// information on an event, and the steps to the next and to the next similar one).
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/execution.h"
#include "analysis/timeline.h"

namespace longpole::analysis {

// A call by its number in the thread: the same in all executions of a recording.
struct CallId {
  std::uint32_t thread = 0;
  std::uint32_t event = 0;
  friend bool operator==(const CallId&, const CallId&) = default;
};

struct Waker {
  CallId call;
  Nanoseconds time{};  // when it was made, or its thread's stretch ended
};

struct TimelineItem {
  CallId call;       // that the thread computes towards, makes or waits in
  bool made = true;  // false: the execution ends before it is
  Span span;  // what the thread does there; of a call: its wait, else the computing before it
  Nanoseconds call_time{};  // made: when
  Nanoseconds
      return_time{};      // made: when the thread goes on behind it; at the end of the run if never
  Nanoseconds work{};     // CPU time since the call before
  Nanoseconds elapsed{};  // time since the call before returned
  std::uint32_t cpu = simulation::no_cpu;
  double weight = 0;  // of the computing before the call; where that has several parts, their mean
  double critical_ns = 0;
  std::optional<Waker> woken_by;  // who ended its wait; none: nobody, or it did not wait
  std::optional<Waker> cpu_from;  // whose end gave the thread the CPU that it waited for then
};

// Nothing where the thread has not started or has ended.
[[nodiscard]] std::optional<TimelineItem> item_at(const Execution& execution, std::uint32_t thread,
                                                  Nanoseconds time);
// Nothing where it is never reached.
[[nodiscard]] std::optional<TimelineItem> item_of(const Execution& execution, CallId call);

enum class Direction : std::uint8_t { next, previous };
// The shown call of the thread behind, or before, that one.
[[nodiscard]] std::optional<CallId> neighbour(const Execution& execution, CallId call,
                                              Direction direction);
// That of any thread of the same kind on the same object, in order of time, then of threads.
[[nodiscard]] std::optional<CallId> similar(const Execution& execution, CallId call,
                                            Direction direction);

}  // namespace longpole::analysis
