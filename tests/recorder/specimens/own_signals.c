// Uses every real-time signal itself, first to wait for it and then with a handler, while it consumes
// CPU time. Each must come as often as it was sent.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static volatile sig_atomic_t handled[65];

static void on_signal(int signal) {
  ++handled[signal];
}

static void work(void) {
  struct timespec time;
  do {
    for (volatile int i = 0; i < 100000; ++i) {
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  } while (time.tv_nsec / 10000000 % 2 == 0);
  do {
    for (volatile int i = 0; i < 100000; ++i) {
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  } while (time.tv_nsec / 10000000 % 2 == 1);
}

static void* waits_for_everything(void* unused) {
  sigset_t everything;
  const struct timespec shortly = {0, 1000000};
  int unexpected = 0;
  sigfillset(&everything);
  pthread_sigmask(SIG_BLOCK, &everything, NULL);
  for (int i = 0; i < 5; ++i) {
    work();
    unexpected += sigtimedwait(&everything, NULL, &shortly) > 0;
  }
  printf("%d unexpected\n", unexpected);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, waits_for_everything, NULL);
  pthread_join(thread, NULL);

  int taken = 0;
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    struct sigaction previous;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(number, NULL, &previous);
    taken += previous.sa_handler != SIG_DFL;
    sigaction(number, &action, &previous);
    taken += previous.sa_handler != SIG_DFL;
  }
  printf("%d taken\n", taken);
  for (int round = 0; round < 3; ++round) {
    work();
    for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
      raise(number);
    }
  }
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    if (handled[number] != 3) {
      printf("%d came %d times\n", number, handled[number]);
    }
  }
  return 0;
}
