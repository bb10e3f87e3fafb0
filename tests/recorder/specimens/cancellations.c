// Cancelling threads: in a wait, in computing, one that forbids it, and one that has ended.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sem_t never;
static sem_t begun;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void* waits_for_semaphore(void* unused) {
  (void)unused;
  sem_post(&begun);
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
  sem_post(&begun);
  for (;;) {
    pthread_cond_wait(&condition, &mutex);
  }
  pthread_cleanup_pop(1);
  return NULL;
}

static void* forbids_it(void* unused) {
  (void)unused;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  sem_post(&begun);
  usleep(60 * 1000);
  return &never;
}

static void cancel(void* (*function)(void*)) {
  pthread_t thread;
  void* value = NULL;
  pthread_create(&thread, NULL, function, NULL);
  sem_wait(&begun);
  usleep(30 * 1000);
  printf("cancel: %s\n", strerror(pthread_cancel(thread)));
  pthread_join(thread, &value);
  printf("%s\n", value == PTHREAD_CANCELED ? "cancelled" : "returned");
}

int main(void) {
  sem_init(&never, 0, 0);
  sem_init(&begun, 0, 0);
  cancel(waits_for_semaphore);
  cancel(waits_for_condition);
  cancel(forbids_it);
  printf("mutex is free: %s\n", strerror(pthread_mutex_trylock(&mutex)));
  return 0;
}
