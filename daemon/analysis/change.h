// A changed program: the recorded one as it would be if a part of it took less time, if one lock
// were several, or if nobody ever waited for an object (thesis, Paper VI section 7: "rerun the
// simulation with the pseudo-optimized function"). Recording in, Recording out; what to simulate
// and to analyse then is the caller's.
//
// Pure functions. The recordings are valid before and after.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/recording.h"

namespace longpole::analysis {

// What can get faster.
struct Part {
  enum class Kind : std::uint8_t {
    function,               // what `functions` do themselves
    function_with_callees,  // and what they call, each stretch once
    line,                   // what is charged to `line` of `files`
    thread,                 // all that `thread` computes
    lock,                   // computing, sleeping and I/O while `lock` is held
  };
  Kind kind = Kind::function;
  std::vector<FunctionId> functions{};  // more than one: they share a name
  std::vector<FileId> files{};
  std::uint32_t line = 0;
  ThreadId thread{};
  ObjectId lock{};
};

inline constexpr std::int64_t whole = 1'000'000'000;  // all of a part's time

struct Speed {
  Part part;
  std::int64_t less = 0;  // of its time, 0 to `whole`
};

inline constexpr std::uint32_t most_parts_of_a_lock = 4096;

struct Split {
  ObjectId lock;
  std::uint32_t into = 1;  // 1 to most_parts_of_a_lock
};

struct Changes {
  std::vector<Speed> speeds;  // where two meet, each takes its part of what the other leaves
  // The k-th critical section of thread t takes part (t + k) modulo `into`: what data each section
  // needs is not recorded, so this is a split that spreads them evenly.
  std::vector<Split> splits;
  std::vector<ObjectId> freed;  // its calls do nothing and wait for nobody; a device serves all
};

// The lengths come out exact: what rounding to nanoseconds leaves over goes to the thread's next
// changed stretch, so that a thread's sum is right to the nanosecond. Refuses splits that are not
// possible: of what is no lock, of a lock that conditions wait with, of one that another thread
// than the one that took it releases.
[[nodiscard]] Expected<Recording> changed(const Recording& recording, const Changes& changes);

// "merge", "ns::merge(int)" (the bare name alone will do where it is one function's), "sorter.c:113",
// "thread:T1", "lock:M", and "function:F", "line:F:N" where a name would be taken for another thing.
[[nodiscard]] Expected<Part> find_part(const Recording& recording, std::string_view text,
                                       bool with_callees);

// By name.
[[nodiscard]] Expected<ObjectId> find_lock(const Recording& recording, std::string_view name);
[[nodiscard]] Expected<ObjectId> find_object(const Recording& recording, std::string_view name);

}  // namespace longpole::analysis
