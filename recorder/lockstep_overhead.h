// What seeing to turns takes of a thread's CPU time, from where it comes in to where it goes on with the program's own. For
// lockstep.cc alone.
//
//   program │ AtTurns: stamp, CPU clock │ … turns … │ leave(): CPU clock │ ~AtTurns: signals let through, stamp │ program
//
// What lies outside the two readings of the clock is measured by stamps, each time: on a core that others use, too, it is twice
// as much as on one by itself. In nanoseconds. Async-signal-safe.
#pragma once

#include <cstdint>

#include "chunk.h"
#include "lockstep_order.h"

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

// The thread's CPU time as it comes in.
std::uint64_t enter();

// While it sees to turns no signal interrupts it.
class AtTurns : WayBack {
 public:
  explicit AtTurns(Participant& self) : WayBack(self), begin(enter()) {}

  const std::uint64_t begin;  // CPU time

 private:
  const SignalsBlocked blocked_;
};

// What the thread has done since `begin`, its CPU time then, is cost, and what it does from here on is its own but for the way
// back. Its CPU time.
std::uint64_t leave(Participant& self, std::uint64_t begin);

}  // namespace longpole::recorder::lockstep
