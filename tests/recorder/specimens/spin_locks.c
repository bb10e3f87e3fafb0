// Spin locks: taken, tried and waited for.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static pthread_spinlock_t lock;
static volatile int waits;

// Until it has spun for a while: it does nothing else after it has said that it waits.
static void wait_until_it_spins(pthread_t thread) {
  clockid_t clock;
  struct timespec before;
  struct timespec now;
  while (!waits) {
    sched_yield();
  }
  pthread_getcpuclockid(thread, &clock);
  clock_gettime(clock, &before);
  do {
    sched_yield();
    clock_gettime(clock, &now);
  } while ((now.tv_sec - before.tv_sec) * 1000000000 + now.tv_nsec - before.tv_nsec < 1000000);
}

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
  wait_until_it_spins(thread);
  printf("unlock: %s\n", strerror(pthread_spin_unlock(&lock)));
  pthread_join(thread, NULL);
  printf("trylock: %s\n", strerror(pthread_spin_trylock(&lock)));
  printf("unlock: %s\n", strerror(pthread_spin_unlock(&lock)));
  printf("errno %d\n", errno);
  return pthread_spin_destroy(&lock);
}
