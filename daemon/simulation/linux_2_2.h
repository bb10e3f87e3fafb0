// `linux-2.2`: the scheduler of Linux 2.2, as Paper III cross-simulates it.
//
// One list of runnable threads for all CPUs. A CPU that looks for a thread takes the one with the
// greatest goodness: what is left of its time slice, in ticks of 10 ms, plus 20 − its nice value,
// plus 15 if it last ran on that CPU; 0 once the slice is used up. Of equals, whoever has the CPU,
// else the one that woke last. A slice is 210 ms (20 ticks, and the one that ends it). When all that
// a CPU could take have used up theirs, every thread gets half of what it has left and a new one.
//
//   list  A: slice left 12 · B: 3, last here · C: 0      goodness here  A 32, B 38, C 0  → B
//
// Modelled besides: a thread that wakes takes its last CPU if that is idle, else another idle one,
// else the one whose thread it exceeds most in goodness, if any. A new thread and its creator share
// what the creator had left of its slice. Who yields goes last. Threads with a priority above 0 are
// SCHED_FIFO, or SCHED_RR: better than all others, by priority. Locks have ordered queues: the first
// has it as soon as it is let go.
//
// Who waits for a spin lock keeps its CPU, as long as its slice lasts; a real-time thread leaves it.
//
// Not modelled: ticks themselves (a slice is charged for the time used, to the nanosecond), the bonus
// of 1 for threads of one process (they all are), per-CPU idle-time histories. Linux 2.2 could not
// bind threads to CPUs; threads bound here obey all the same.
//
// Source: thesis, Paper III sections 3 and 5; Linux 2.2's sched_setscheduler(2).
#pragma once

#include "simulation/scheduler.h"
