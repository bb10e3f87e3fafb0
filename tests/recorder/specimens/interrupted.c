// Counts the waits that are interrupted: by its own handler, and by nothing else, however
// much CPU time passes in between, and however many signals arrive that somebody else handles in this process.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "handled_signals.h"

static volatile sig_atomic_t handled;

static void on_alarm(int signal) {
  (void)signal;
  ++handled;
}

enum { ROUNDS = 100 };

static sem_t posted;
static volatile pid_t waiter;
static int surprises_without_deadline;

static void* wait_for_posts(void* argument) {
  waiter = (pid_t)syscall(SYS_gettid);
  for (int i = 0; i < ROUNDS; ++i)
    surprises_without_deadline += sem_wait(&posted) != 0;
  return argument;
}

static void disturb_a_wait(void) {
  sem_init(&posted, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_posts, NULL);
  for (int i = 0; i < ROUNDS; ++i) {
    usleep(500);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
      if (waiter != 0 && is_handled(signal))
        syscall(SYS_tgkill, getpid(), waiter, signal);
    usleep(100);
    sem_post(&posted);
  }
  pthread_join(thread, NULL);
  printf("%d surprises without a deadline\n", surprises_without_deadline);
}

int main(void) {
  disturb_a_wait();
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, NULL);
  int interrupted = 0;
  int by_nothing = 0;
  // Again and again: on a busy machine one may come before the wait has begun.
  ualarm(20000, 20000);
  for (int i = 0; i < 3; ++i) {
    const int handled_before = handled;
    if (sem_wait(&semaphore) == -1 && errno == EINTR) {
      ++interrupted;
      by_nothing += handled == handled_before;
    }
  }
  ualarm(0, 0);
  printf("%d waits interrupted, %d by nothing\n", interrupted, by_nothing);

  int surprises = 0;
  for (int i = 0; i < 300; ++i) {
    for (volatile int work = 0; work < 1000000; ++work) {
    }
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 10000;
    if (soon.tv_nsec >= 1000000000) {
      soon.tv_nsec -= 1000000000;
      ++soon.tv_sec;
    }
    surprises += sem_timedwait(&semaphore, &soon) == -1 && errno != ETIMEDOUT;
  }
  printf("%d surprises\n", surprises);
  return 0;
}
