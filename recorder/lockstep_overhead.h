// What seeing to turns takes of a thread's CPU time, from where it comes in to where it goes on with the program's own. For
// lockstep.cc alone.
//
//   program │ AtTurns: stamp, signals blocked, CPU clock │ … turns … │ leave(): CPU clock │ ~AtTurns: signals let through, stamp │ program
//
// What lies outside the two readings of the clock is measured by stamps, each time: on a core that others use, too, it is twice
// as much as on one by itself. In nanoseconds. Async-signal-safe.
#pragma once

#include <cstdint>

#include "chunk.h"
#include "lockstep_order.h"
#include "thread_log.h"

namespace longpole::recorder::lockstep {

// Of the way back, which goes last, when signals are let through again: what has passed since Participant::left_at, where that
// is set, is cost.
class WayBack {
 public:
  explicit WayBack(Participant& self) : self_(self) {}
  ~WayBack();
  WayBack(const WayBack&) = delete;
  WayBack& operator=(const WayBack&) = delete;

 private:
  Participant& self_;
};

// The thread's CPU time at that stamp, shortly before.
std::uint64_t cpu_time_at(std::uint64_t entered);

// At a call: while it sees to turns no signal interrupts it, that of sampling least of all, whose sample would be the program's if
// it fell into libc's reading of the clock.
class AtTurns : WayBack {
  const std::uint64_t entered_ = stamp();
  const SignalsBlocked blocked_;

 public:
  explicit AtTurns(Participant& self) : WayBack(self), begin(cpu_time_at(entered_)) {}

  const std::uint64_t begin;  // CPU time
};

// What the thread has done since `begin`, its CPU time then, is cost, and what it does from here on is its own but for the way
// back. Its CPU time.
std::uint64_t leave(Participant& self, std::uint64_t begin);

}  // namespace longpole::recorder::lockstep
