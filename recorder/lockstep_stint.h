// How long a thread has the turn, by the clocks of all. For lockstep.cc alone. Needs OrderLocked.
#pragma once

#include <cstdint>

#include "lockstep_order.h"

namespace longpole::recorder::lockstep {

// The clock of a thread that has the turn, as of now. What the kernel ran in between counts too.
std::uint64_t clock_now(const Participant& holder);

// Its clock, once it has used so much CPU time in all.
void account(Participant& self, std::uint64_t cpu_time);

// Says until when the thread has the turn, unless it waits before.
void begin_stint(Participant& self);

// One that came to be ready must not wait longer than if it had been there when the holder's turn began.
void shorten_stint(Participant& holder, const Participant& ready);

}  // namespace longpole::recorder::lockstep
