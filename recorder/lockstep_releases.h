// What was released last, by objects: whoever waited for it goes on from that clock. For lockstep.cc alone.
//
// Two objects of one place in the table are told apart by their addresses, and the older of the two is forgotten.
//
// Threads: needs OrderLocked but for release_of() and note_release().
#pragma once

#include <cstdint>

#include "lockstep_order.h"

namespace longpole::recorder::lockstep {

struct Release {
  const void* object;
  std::uint64_t clock;
  std::uint64_t stamp;
  unsigned waiters;   // in the kernel
  unsigned awaiting;  // Participant::awaits
  // By waits for conditions, inside of which nobody sees when: not to be awaited any more.
  bool given_up;
};

// That of its place, which may be of another object.
Release& release_of(const void* object);

// It is released now, by one whose clock says that.
void note_release(const void* object, std::uint64_t clock);

// The clock of the last release of what the thread waits for, since it began to; 0: there was none.
std::uint64_t released_meanwhile(const Participant& waiter);

// In the kernel, for each of its objects.
void begin_waiting(const Participant& self);
void end_waiting(const Participant& self);

// Of those that await the object, the one that has for longest; null: there is none.
Participant* first_awaiting(const void* object);
void begin_awaiting(Participant& self);
void end_awaiting(Participant& one);

}  // namespace longpole::recorder::lockstep
