// `solaris`: threads on LWPs on CPUs, as Papers I and II simulate Solaris 2.5.
//
//   threads    A  B  C   D   E         D is bound to an LWP, E to a CPU and so to an LWP
//               ╲ │ ╱    │   │
//   LWPs         1  2    3   4         time-sharing class: 60 levels, slices of 200 … 20 ms
//                 ╲ │  ╱     │
//   CPUs           0  1      1
//
// Threads that are not bound share Machine::lwps LWPs (none given: one each). An LWP stays with its
// thread until that ends or waits for another thread; then it takes the next that can run, by priority,
// of one priority in order of arrival. A thread that sleeps or waits for I/O keeps its LWP, in the
// kernel; when all LWPs are there and threads could run, the system makes a further one (SIGWAITING).
// Bound threads have an LWP each.
//
// The CPUs run the LWPs of the highest levels; one that becomes able to run takes the CPU of a lower
// one. All start on level 29. An LWP that has used up its slice goes down (ts_tqexp), behind its
// equals; one that comes back from the kernel goes up (ts_slpret); once a second those that have
// waited for a CPU for a second go up (ts_lwait). Creating a bound thread costs 6.7 times, a bound
// thread's calls on locks, semaphores and conditions 5.9 times what the machine says they cost. Locks
// barge: who lets one go may take it again before those that wait.
//
// Who waits for a spin lock keeps its LWP and its CPU, as long as its slice lasts; where there are fewer
// LWPs than threads, one that is not bound waits as for other locks.
//
// Not modelled: the interactive and real-time classes, a queue a CPU and the time after which an LWP
// may move (all CPUs serve one queue; an LWP takes its last CPU if that is idle), kernel priorities,
// thr_setconcurrency, preemption of threads by threads (an LWP is preempted, a thread on it is not
// exchanged), the cost of switching LWPs.
//
// Source: thesis, Paper I section 3.2, Paper II sections 3 and 4; ts_dptbl(4), System Administration
// Guide of Solaris 2.5, "Timesharing Parameter Table".
#pragma once

#include "simulation/scheduler.h"
