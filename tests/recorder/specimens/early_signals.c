// Signals threads the moment they are created, so that the handler is often the first of their own
// code to run.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>

enum { kThreads = 100 };

static sem_t handled;
static int count;

static void on_signal(int signal) {
  (void)signal;
  sem_post(&handled);
  __atomic_add_fetch(&count, 1, __ATOMIC_RELEASE);
}

static void* waits_for_signal(void* awaited) {
  while (__atomic_load_n(&count, __ATOMIC_ACQUIRE) < *(int*)awaited) {
    sched_yield();
  }
  return NULL;
}

int main(void) {
  // On one CPU the creator gets further before the new thread runs.
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  sched_setaffinity(0, sizeof(first), &first);
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  sem_init(&handled, 0, 0);
  for (int i = 1; i <= kThreads; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, waits_for_signal, &i);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
  }
  int value = 0;
  sem_getvalue(&handled, &value);
  printf("%d posts\n", value);
  return 0;
}
