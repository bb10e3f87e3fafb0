// Cancelling threads: in a wait, in computing, one that forbids it, and one that has ended.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "asleep.h"

static sem_t never;
static int waiting;  // the thread that does, or is about to
static volatile int cancelled;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void* waits_for_semaphore(void* unused) {
  (void)unused;
  __atomic_store_n(&waiting, thread_id(), __ATOMIC_RELEASE);
  sem_wait(&never);
  return NULL;
}

static void unlock(void* locked) {
  pthread_mutex_unlock(locked);
}

static void* waits_for_condition(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, &mutex);
  __atomic_store_n(&waiting, thread_id(), __ATOMIC_RELEASE);
  for (;;) {
    pthread_cond_wait(&condition, &mutex);
  }
  pthread_cleanup_pop(1);
  return NULL;
}

static void* forbids_it(void* unused) {
  (void)unused;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  __atomic_store_n(&waiting, thread_id(), __ATOMIC_RELEASE);
  while (!cancelled) {
    sched_yield();
  }
  return &never;
}

static void cancel(void* (*function)(void*)) {
  pthread_t thread;
  void* value = NULL;
  waiting = 0;
  pthread_create(&thread, NULL, function, NULL);
  if (function == forbids_it) {
    while (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) == 0) {
      sched_yield();
    }
  } else {
    wait_until_asleep_in(SYS_futex, &waiting);
  }
  printf("cancel: %s\n", strerror(pthread_cancel(thread)));
  cancelled = 1;
  pthread_join(thread, &value);
  printf("%s\n", value == PTHREAD_CANCELED ? "cancelled" : "returned");
}

int main(void) {
  sem_init(&never, 0, 0);
  cancel(waits_for_semaphore);
  cancel(waits_for_condition);
  cancel(forbids_it);
  printf("mutex is free: %s\n", strerror(pthread_mutex_trylock(&mutex)));
  return 0;
}
