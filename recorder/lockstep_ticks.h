// The timers that take the turn from threads that make no recorded call. For lockstep.cc alone.
#pragma once

#include <signal.h>

#include <cstdint>

#include "lockstep_order.h"

namespace longpole::recorder::lockstep {

// Of stamps: how long they take. Valid once prepared.
std::uint64_t nanoseconds_of(std::uint64_t stamps);
std::uint64_t stamps_of(std::uint64_t nanoseconds);

// CPU time that the kernel takes for a tick: the interrupt, the signal, and the way back.
std::uint64_t cost_of_tick();

// CPU time of blocking signals, reading the clock twice and letting signals through again, beside what lies
// between the two readings.
std::uint64_t cost_around_readings();

// Takes a signal and measures the above, in a few milliseconds. `on_tick`: what a tick does in the
// thread that it interrupts; `in_system_call`: it slept in one, or just came back from it.
using OnTick = void (*)(bool in_system_call);
bool prepare_ticks(OnTick on_tick);

// With OrderLocked. A tick after so many ns, in place of any other of the thread; without a timer, none.
void make_timer(Participant& of);
void delete_timer(Participant& of);
void tick_after(Participant& thread, std::uint64_t nanoseconds);
void no_tick(Participant& thread);
// At once, sent by another thread.
void tick_now(const Participant& thread);

}  // namespace longpole::recorder::lockstep
