// Schedule: when each stretch of a recorded program runs on a simulated machine, and what released
// it.
//
// One Segment per event of the recording (the stretch of computing that ends in the event's call),
// plus one for each stretch off the CPU of fixed length (sleep, I/O, external wait, a wait that
// timed out). A node, in the words of DESIGN section 7, is the end of a segment; a segment starts
// at the end of the one segment that released it, or at time 0. All segments of a thread stand
// together, in order.
//
//   thread 1  ├─ run ─┤signal├─ run ─┤
//                        └──────────────▶ released_by
//   thread 2  ├ wait …    blocked       ├─ run ─┤
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulation/large_array.h"
#include "simulation/models.h"
#include "trace/recording.h"

namespace longpole::simulation {

using SegmentIndex = std::uint32_t;
inline constexpr SegmentIndex no_segment = 0xffffffffU;

struct Segment {
  Nanoseconds start{};
  Nanoseconds end{};
  SegmentIndex released_by = no_segment;  // its end is this start; no_segment: starts at time 0
  std::uint32_t event = 0;                // index into the thread's events
  ThreadId thread;
  bool running : 1 = true;               // false: off the CPU for a fixed time
  bool cut : 1 = false;                  // the program ended before its call, or its wait, was over
  std::uint32_t running_after : 30 = 0;  // threads that run just after its end, in order of by_end
};
static_assert(sizeof(Segment) == 32, "DESIGN section 9: at most 100 bytes an event in the daemon");

// Threads that can never go on: the simulated program stands still.
struct Blocked {
  ThreadId thread;
  std::uint32_t event = 0;  // the call it is blocked in
  Nanoseconds since{};
};
struct Deadlock {
  Nanoseconds at{};              // when the last thread blocked
  std::vector<Blocked> threads;  // all that are blocked, in order of thread id
};

struct Schedule {
  LargeArray<Segment> segments;  // by thread, in the thread's order
  std::vector<SegmentIndex>
      thread_begin;  // threads + 1 entries: where each thread's segments begin
  // All segments in order of their ends: always next, of those whose cause has been, the one with the
  // earliest end, at equal times of the smallest thread. Where the program exits, the end of the thread
  // that does is the last, and what it cuts short comes just before: still running, so that it weighs
  // nothing.
  LargeArray<SegmentIndex> by_end;
  std::uint32_t running_at_start = 0;
  Nanoseconds total{};               // when the last segment ends, or the program exits
  std::optional<Deadlock> deadlock;  // then the segments are those up to the standstill
  Model model = Model::direct;       // by which it was simulated in general
};

}  // namespace longpole::simulation
