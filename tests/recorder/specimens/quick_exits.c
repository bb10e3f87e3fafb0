// Ends by quick_exit, with a handler that makes recorded calls, while another thread waits.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "asleep.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t never;

static void at_the_end(void) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  const char text[] = "handler\n";
  if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0) {
    abort();
  }
}

static int waiting;

static void* waits(void* unused) {
  __atomic_store_n(&waiting, thread_id(), __ATOMIC_RELEASE);
  sem_wait(&never);
  return unused;
}

int main(void) {
  pthread_t thread;
  sem_init(&never, 0, 0);
  at_quick_exit(at_the_end);
  pthread_create(&thread, NULL, waits, NULL);
  wait_until_asleep_in(SYS_futex, &waiting);
  quick_exit(9);
}
