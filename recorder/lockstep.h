// Lockstep: on one CPU the threads of the program advance together, as if each of N virtual CPUs ran one
// (`longpole record --lockstep N`). What threads wait for by spinning then lasts as long as on N CPUs,
// and work that they hand out among themselves goes to the one that would have taken it.
//
//   in the order, at most N threads on a virtual CPU each         outside: in calls that wait
//     A ▓▓▓▓▓░░░░░▓▓▓▓▓░░░░░▓▓  ▓ has the turn                      D  lock M ─ ─ ─ ─ ─ ─▶
//     B ░░░░░▓▓▓▓▓░░░░░▓▓▓▓▓░░  ░ waits for it, by a futex          E  read
//     C queued for a virtual CPU
//
// Every thread has a clock, the CPU time that it has used, without what taking turns costs. One thread has
// the turn. It gives it to the one whose clock is furthest behind: at a recorded call, when it is ahead of
// that one by a little (kCallSlack), and when a timer interrupts it (kTick ahead). A call that waits steps
// out of the order before and in again after; its clock is then that of whoever released it. With more
// threads than N, those that are ready queue for the virtual CPUs and have them for a slice at a time.
//
// A thread that waits for its turn takes no CPU time, and the records say from when to when it waited
// (LONGPOLE_TURN), so that nobody takes it for a wait of the program.
//
// Nothing can stand still for long: who has the turn and sleeps in something that nobody knows of (a raw
// system call, a lock of libc whose owner waits for its turn) is found by its tick, else by those who wait,
// and loses it (kLost). It goes on whenever it can and steps in again at its next recorded call, or when
// another thread's tick sees that it runs.
//
// Threads: each for itself, unless said otherwise. Async-signal-safe. errno is left alone. All does
// nothing in a thread that is not registered and beyond kMostThreads.
#pragma once

#include <cstdint>

#include "longpole/raw_record.h"

namespace longpole::recorder::lockstep {

// Once in the process, in its only thread and before that is registered. False: no signal is left for the
// ticks, and the program cannot be recorded so.
bool prepare();

// The calling thread, just numbered, steps in; at its end it leaves for good.
void begin_thread(std::uint32_t number);
void end_thread();

// Gives the turn away where another thread is further behind.
void take_turn();

// Before a call that releases.
void release(longpole_kind kind, const void* object);

// Around a call that may wait. `given_up`: a mutex that it gives up meanwhile, or null.
void step_out(longpole_kind kind, const void* object, const void* given_up);
void step_in();

// Between step_out() and step_in(), in place of a wait in the kernel, which would give what is released to the thread that is woken
// at once; on several CPUs others are sooner. True: `object` was released, or may have been, and it is the thread's turn
// to try; step_out() again before it waits again. False: the thread is not in step, and waits as ever.
bool await_release(const void* object);

// Gives the turn away until the spin lock is released, or nobody else can go on.
void spin_on(const void* object);
void end_spinning_on(const void* object);

// Who the calling thread is from now on, null: nobody; returns who it was.
struct Participant;
Participant* exchange_participant(Participant* other);

// The signal of the ticks; 0: none. As with that of sampling, the program must not see it.
int signal_of_ticks();
void move_ticks_from(int signal);

}  // namespace longpole::recorder::lockstep
