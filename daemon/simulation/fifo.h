// `fifo`: fixed priorities, preemptive, as POSIX SCHED_FIFO on a machine with one queue for all CPUs.
//
// The CPUs run the threads with the highest priorities, those of one priority in the order in which
// they became able to run. A thread that becomes able to run takes the CPU that it used last, if
// that is idle; else the first idle one; else, where some run with a lower priority, that of the
// lowest (at equal priorities the one with the smallest number), of those that nobody else is about
// to take. A thread whose CPU was taken goes on before others of its priority, one that yields after
// them. A larger number is a higher priority; a thread without one has 0.
//
// A thread bound to a CPU takes part for that CPU alone: nobody is moved to another CPU to make room.
// Not modelled: time slices, priority inheritance and ceilings, per-CPU queues. Who waits for a spin lock
// leaves its CPU, as for any other lock: without slices it might keep the CPU for ever.
//
// Source: POSIX.1-2017, section 2.8.4 "Process Scheduling"; thesis, Paper VIII section 4 (fixed
// priorities with preemption).
#pragma once

#include "simulation/scheduler.h"
