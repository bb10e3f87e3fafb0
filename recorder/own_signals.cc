#include "own_signals.h"

#include <sys/syscall.h>
#include <unistd.h>
#include <ctime>

#include "next_definition.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace longpole::recorder {

int take_free_signal(int but_not, SignalHandler handler) {
  const int lowest = SIGRTMIN;
  const int count = SIGRTMAX - lowest + 1;
  for (int i = 0; i < count; ++i) {
    const int signal = lowest + (count / 2 + i) % count;
    struct sigaction present;
    if (signal == but_not || next().sigaction(signal, nullptr, &present) != 0 ||
        present.sa_handler != SIG_DFL) {
      continue;
    }
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    if (next().sigaction(signal, &action, nullptr) == 0) {
      return signal;
    }
  }
  return 0;
}

void leave_signal(int signal) {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  next().sigaction(signal, &ignored, nullptr);
}

// The system call: timer_create is in librt before glibc 2.34.
int make_thread_timer(clockid_t clock, int signal, pid_t thread) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_notify_thread_id = thread;
  int timer = -1;
  return syscall(SYS_timer_create, clock, &event, &timer) == 0 ? timer : -1;
}

clockid_t cpu_clock_of(pid_t thread) {
  constexpr unsigned kPerThreadSchedulerClock = 6;
  return static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | kPerThreadSchedulerClock);
}

}  // namespace longpole::recorder
