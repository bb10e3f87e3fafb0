// Yields by which a thread puts off a wait for a futex: C++20's waits of libstdc++ yield four times before they ask the
// kernel to wait (bits/atomic_wait.h), Rust's parking_lot seven. On one CPU the thread that is waited for does its
// work during the first of them; no wait would be seen, and nobody would know who waited for whom. Such a yield returns
// at once instead, so that the thread waits where it would on a CPU of its own. Which calls of sched_yield() are such
// ones is found by trying: what follows tells.
//
// Threads: any; signal handlers too.
#pragma once

namespace longpole::recorder {

// Of a call of sched_yield(), by its site. True: it is one, is recorded, and is to return at once. The thread's clock is
// not read: whoever does may lose the CPU.
bool record_yield_before_wait(const void* site);

// The calling thread begins to wait for a futex.
void begins_futex_wait();

}  // namespace longpole::recorder
