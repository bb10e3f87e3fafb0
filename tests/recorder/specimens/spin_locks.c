// Spin locks: taken, tried and waited for.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_spinlock_t lock;
static volatile int waits;

static void* waits_for_lock(void* unused) {
  (void)unused;
  waits = 1;
  pthread_spin_lock(&lock);
  pthread_spin_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  errno = 77;
  printf("lock: %s\n", strerror(pthread_spin_lock(&lock)));
  printf("trylock: %s\n", strerror(pthread_spin_trylock(&lock)));
  pthread_t thread;
  pthread_create(&thread, NULL, waits_for_lock, NULL);
  while (!waits) {
    sched_yield();
  }
  usleep(20 * 1000);
  printf("unlock: %s\n", strerror(pthread_spin_unlock(&lock)));
  pthread_join(thread, NULL);
  printf("trylock: %s\n", strerror(pthread_spin_trylock(&lock)));
  printf("unlock: %s\n", strerror(pthread_spin_unlock(&lock)));
  printf("errno %d\n", errno);
  return pthread_spin_destroy(&lock);
}
