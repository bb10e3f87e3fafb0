// `linux`: the scheduler of today's Linux kernels, EEVDF ("Earliest Eligible Virtual Deadline First").
//
// Each CPU has a queue of its own. A thread's virtual time passes, while it computes, in inverse
// proportion to its weight, which doubles about every three nice values. Behind the average of its
// queue (positive lag) it is eligible; of those eligible, the one with the earliest virtual deadline
// gets the CPU: a deadline is a slice of 0.7 ms · (1 + log2 CPUs, of 8 at most) ahead.
//
//   queue of a CPU, by deadline      A v=3 d=6   B v=5 d=7   C v=1 d=9     average 3: A, C eligible
//
// Modelled, as Linux 6.12 to 6.18 do it:
//  - A thread keeps its CPU for its slice while it is eligible; slices end at a tick (Machine::tick), or
//    where another thread wakes on that CPU.
//  - A thread that wakes takes up with the lag it had, and preempts when it would be chosen then. One
//    that sleeps with negative lag stays in its queue until it would be chosen (delayed dequeue); when it
//    wakes before, its lag is that of the last tick.
//    A new thread has no lag and half a slice. A thread that yields forgoes the rest of its slice, unless nobody else
//    stands in its queue.
//  - A thread wakes on its last CPU if that is idle. Else the lighter of its last and its waker's is the target.
//    It wakes where it was the time before that the last CPU was busy, if that is idle; else on the first idle CPU
//    of those looked at, behind the target; else on the target. Of n CPUs that were used u of late on average,
//    n · (1 - (1.17 u)²) are looked at: on two none from 0.61 on. That is as of when a CPU last looked for something to even
//    out, found any or not; before the run all were idle. So threads change CPUs again and again as a program starts.
//  - Some kernels for virtual machines pack threads: one that wakes up, or is new, joins the thread that woke it on its CPU
//    though another one is idle, where nobody else can run there and both use less of a CPU than Machine::packed_use:
//    of late, and by what each had used when it last went to sleep, from which it is expected to fall by a quarter
//    each time. So it was in traces of 6.18 with `sched_vcpu_pack`, up to 70% of what the host left of a CPU.
//  - Else a new thread starts on an idle CPU; else on its creator's, unless another one has more room. A CPU that was used
//    less than 85% of late, and where less than 1.17 threads could run then on average, has some. Another one has
//    little, with one thread in its queue, or none, with more. Of those with some that used least counts, of others the
//    lightest; and where the creator's has as little, or none either, that must be lighter by more than a sixth.
//  - A CPU that falls idle looks for a thread in the heaviest queue only as often as that helped of late
//    (newly_idle.h), at first as before the run (Machine::newly_idle_share), and takes who waits longest there of
//    those that did not run within the last 0.5 ms: what ran has its data in that CPU's cache. Otherwise it stays
//    idle beside those that wait until one wakes up, which it takes, or a tick at least 1 ms · CPUs after its last
//    look, 2 ms · CPUs where that was in vain for want of anyone: then it takes half of the heaviest queue, with what
//    ran within the last 0.5 ms on the third look in a row that found nothing else. A busy CPU beside which threads
//    wait tells the idle ones of its ticks, but not before the first of them is due by what was found out last: after
//    one took threads, that is when it would look while busy. Where a CPU fell idle since that had been busy at a
//    tick, the first tick finds it out anew. Where waking up a CPU takes no time, as in program files, looks do not
//    either: there a CPU that falls idle always takes who waits longest, and who wakes finds any idle CPU.
//    Some kernels for virtual machines let idle CPUs have their ticks, and look at every other one; so it was in
//    traces of 6.18. With Machine::idle_look a CPU is told of none, and that is how long it waits between looks.
//  - A tick less than every 16 ms · CPUs, or every 32 ms · CPUs after it found nothing to even out, a busy CPU
//    looks for one that is heavier, and takes what waits or sleeps there for longest if that evens them out and
//    is eligible; on the second look in a row if it does not turn the imbalance round, eligible or not; on the
//    third even then, and what ran within the last 0.5 ms. One with a single thread that was used less than 85%
//    of late looks no further: so after a thread was taken from it, it takes one back only some 120 to 170 ms
//    later. One with two or more lets a sixth more than it has itself pass. Those are counted before its own tick
//    changes threads, and who sleeps in its queue (delayed dequeue) counts.
//  - A busy CPU that is to take up a thread woken from another learns of it by an interrupt (Machine::interrupt), or before
//    when it chooses, or its thread is through with a call that let another one go on. It computes until then, so none is
//    idle for it. The interrupt comes all the same, and takes its time (Machine::interruption) of whoever runs; and until
//    the waker is through with sending it (Machine::release_afar_cost) it has the queue locked, and that CPU takes nobody
//    up. A CPU that is to choose already is sent none. Of real-time threads it learns at once.
//    One whose own thread woke it learns of it when that is through with its call (Machine::release_cost), which is
//    time of the waker's. So is what a call takes before it blocks (Machine::block_cost) of who blocks.
//  - A run begins at a tick, or by chance (Machine::chance) some eighths of one behind it.
//  - CPU 0 counts the ticks. Which CPU is through with its own first is chance, too: one before CPU 0
//    takes it for the last one and looks a tick late; one before the others looks while they still run whom they ran.
//  - How heavy a thread and a CPU are, and how much a CPU is used, are averages over time (load_average.h);
//    what a thread was and used comes along when it moves.
//  - SCHED_FIFO above all that, SCHED_RR with slices of 100 ms: threads with a priority above 0 (the
//    recording's, or the machine's), on whichever CPUs run the least important.
//  - Readers take an rwlock past writers that wait for it, and before them when a writer lets go (glibc's default).
//  - Who waits for a spin lock keeps its CPU, as long as its slice lasts; a real-time thread leaves it.
//
// Not modelled: groups (autogroup, cgroups) and their bandwidth, slices asked for by sched_setattr, SCHED_IDLE,
// SCHED_BATCH and SCHED_DEADLINE, throttling of real-time threads, domains (all CPUs share a cache), that a busy CPU
// may take who sleeps in a queue where only bound threads wait, how much threads were used by what was estimated when
// they last slept, that a CPU does not look that is idle for less time than looks take, some 20 us, what others than
// the program let it do meanwhile, what the host of a virtual machine takes of a CPU, and what else vendors add.
// Locks and semaphores are not handed over: who comes first takes them, and of a mutex does not know then who
// else sleeps for it (HandOff::futex).
//
// Source: Documentation/scheduler/{sched-eevdf,sched-design-CFS,sched-nice-design,sched-domains}.rst
// and kernel/sched/fair.c of the kernel, sched(7); Stoica and Abdel-Wahab, "Earliest Eligible Virtual Deadline
// First", 1995.
#pragma once

#include "simulation/scheduler.h"
