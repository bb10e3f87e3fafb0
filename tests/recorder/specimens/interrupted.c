// Counts the waits that are interrupted: by its own handler as often as that ran, else never, however
// much CPU time passes in between.
#define _GNU_SOURCE
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void on_alarm(int signal) {
  (void)signal;
  ++handled;
}

int main(void) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, NULL);
  int interrupted = 0;
  for (int i = 0; i < 3; ++i) {
    ualarm(20000, 0);
    interrupted += sem_wait(&semaphore) == -1 && errno == EINTR;
  }
  printf("%d handled, %d waits interrupted\n", handled, interrupted);

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
