// A flood of signals whose handler posts a semaphore, over a thread that records without pause.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kLocks = 100000, kSignals = 500 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t handled;
static volatile sig_atomic_t posts;
static volatile int done;

static void on_signal(int signal) {
  (void)signal;
  if (posts < kSignals) {
    ++posts;
    sem_post(&handled);
  }
}

static void* is_interrupted(void* unused) {
  for (int i = 0; i < kLocks || posts < kSignals; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  sem_init(&handled, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, is_interrupted, NULL);
  while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
    const sig_atomic_t before = posts;
    pthread_kill(thread, SIGUSR1);
    while (posts == before && before < kSignals && !__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
      syscall(SYS_sched_yield);  // not recorded, as a sched_yield would be
    }
  }
  pthread_join(thread, NULL);
  int value = 0;
  sem_getvalue(&handled, &value);
  printf("%d posts\n", value);
  return 0;
}
