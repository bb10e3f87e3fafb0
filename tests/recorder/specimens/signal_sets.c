// Asks for all signals in every way, while signals arrive that somebody else handles in this process: it finds none. Then a
// thread that is created with all of them blocked consumes CPU time, and each is taken as System V does it.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "handled_signals.h"

sighandler_t __sysv_signal(int number, sighandler_t handler);

static volatile int handled;
static int waiter;
static int is_over;

static void on_signal(int signal) {
  (void)signal;
  ++handled;
}

static void send_all_that_are_handled_to(int thread) {
  for (int number = SIGRTMIN; number <= SIGRTMAX && thread != 0; ++number) {
    if (is_handled(number)) {
      syscall(SYS_tgkill, getpid(), thread, number);
    }
  }
}

static void* asks_for_all(void* unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  struct pollfd file = {.fd = signalfd(-1, &all, SFD_CLOEXEC), .events = POLLIN};
  __atomic_store_n(&waiter, gettid(), __ATOMIC_RELEASE);
  int found = 0;
  for (int i = 0; i < 5; ++i) {
    found += poll(&file, 1, 20) != 0;
  }
  printf("%d to be read\n", found);
  __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
  return unused;
}

static void* computes(void* unused) {
  struct timespec now;
  do {
    for (volatile int i = 0; i < 10000; ++i) {
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (now.tv_nsec < 200000000);
  return unused;
}

static int count_pending(void) {
  const unsigned long all = ~0ul;
  unsigned long before = 0;
  sigset_t pending;
  int count = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
  send_all_that_are_handled_to(gettid());
  sigemptyset(&pending);
  sigpending(&pending);
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    count += sigismember(&pending, number);
  }
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
  return count;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, asks_for_all, NULL);
  while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
    send_all_that_are_handled_to(__atomic_load_n(&waiter, __ATOMIC_ACQUIRE));
    const struct timespec shortly = {.tv_nsec = 1000000};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &shortly, NULL);
  }
  pthread_join(thread, NULL);
  printf("%d pending\n", count_pending());

  pthread_attr_t attributes;
  sigset_t all;
  sigfillset(&all);
  pthread_attr_init(&attributes);
  pthread_attr_setsigmask_np(&attributes, &all);
  pthread_create(&thread, &attributes, computes, NULL);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);

  int taken = 0;
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    taken += __sysv_signal(number, on_signal) != SIG_DFL;
    raise(number);
    __sysv_signal(number, SIG_IGN);
  }
  printf("%d taken, %d of %d handled\n", taken, handled, SIGRTMAX - SIGRTMIN + 1);
  return 0;
}
