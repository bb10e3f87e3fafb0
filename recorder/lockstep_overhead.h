// What seeing to turns takes of a thread's CPU time, from where it comes in to where it goes on with the program's own. For
// lockstep.cc alone.
//
//   program │ enter(): stamp, CPU clock │ … turns … │ read_cpu_time(), the record │ signals let through, ~WayBack: stamp │ program
//
// What lies outside the two readings of the clock is measured by stamps, each time: on a core that others use, too, it is twice
// as much as on one by itself. In nanoseconds. Async-signal-safe.
#pragma once

#include <cstdint>

#include "lockstep_order.h"

namespace longpole::recorder::lockstep {

// The thread's CPU time, and the stamp of when it was that.
struct Reading {
  std::uint64_t cpu_time;
  std::uint64_t stamp;
};
Reading read_cpu_time();

// The thread's CPU time as it comes in.
std::uint64_t enter();

// Goes last, when signals are let through again: what has passed since Participant::left_at, where that is set, is cost.
class WayBack {
 public:
  explicit WayBack(Participant& self) : self_(self) {}
  ~WayBack();
  WayBack(const WayBack&) = delete;
  WayBack& operator=(const WayBack&) = delete;

 private:
  Participant& self_;
};

}  // namespace longpole::recorder::lockstep
