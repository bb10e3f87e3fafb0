// Real-time signals that the recorder takes for itself while the program uses them for nothing.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <time.h>

namespace longpole::recorder {

using SignalHandler = void (*)(int signal, siginfo_t* info, void* context);

// Installs the handler, which no other signal interrupts, for a signal that has none. From the middle of
// the range: programs take theirs from its ends. 0: none is free.
int take_free_signal(int but_not, SignalHandler handler);

// Nobody sends it any more. What is pending of it, wherever it is blocked, goes, and the signal is ignored until the program's
// own action is in its place: by default it would end the process.
void leave_signal(int signal);

// The kernel's number of a timer that sends `signal` to `thread`, on `clock`; -1: refused.
int make_thread_timer(clockid_t clock, int signal, pid_t thread);

// The kernel's name for the CPU clock of a thread of this process.
clockid_t cpu_clock_of(pid_t thread);

}  // namespace longpole::recorder
