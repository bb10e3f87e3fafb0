// Every call on read-write locks, with every answer that it can give.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "asleep.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void say(const char* what, int result) {
  printf("%s: %s\n", what, strerror(result));
}

static struct timespec in_a_moment(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += 20 * 1000 * 1000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    ++time.tv_sec;
  }
  return time;
}

static void* meets_readers(void* unused) {
  (void)unused;
  say("tryrdlock beside readers", pthread_rwlock_tryrdlock(&lock));
  say("unlock", pthread_rwlock_unlock(&lock));
  say("trywrlock beside readers", pthread_rwlock_trywrlock(&lock));
  struct timespec deadline = in_a_moment(CLOCK_REALTIME);
  say("timedwrlock beside readers", pthread_rwlock_timedwrlock(&lock, &deadline));
  deadline = in_a_moment(CLOCK_MONOTONIC);
  say("clockwrlock beside readers", pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &deadline));
  return NULL;
}

static void* meets_writer(void* unused) {
  (void)unused;
  say("tryrdlock beside a writer", pthread_rwlock_tryrdlock(&lock));
  struct timespec deadline = in_a_moment(CLOCK_REALTIME);
  say("timedrdlock beside a writer", pthread_rwlock_timedrdlock(&lock, &deadline));
  deadline = in_a_moment(CLOCK_MONOTONIC);
  say("clockrdlock beside a writer", pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &deadline));
  return NULL;
}

static int waiting;  // the thread that does, or is about to

static void* waits_to_read(void* unused) {
  (void)unused;
  __atomic_store_n(&waiting, thread_id(), __ATOMIC_RELEASE);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
  return NULL;
}

static void* waits_to_write(void* unused) {
  (void)unused;
  __atomic_store_n(&waiting, thread_id(), __ATOMIC_RELEASE);
  pthread_rwlock_wrlock(&lock);
  pthread_rwlock_unlock(&lock);
  return NULL;
}

static void run(void* (*function)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, NULL);
  pthread_join(thread, NULL);
}

// The thread begins to wait while the lock is held.
static void run_beside(void* (*function)(void*)) {
  pthread_t thread;
  __atomic_store_n(&waiting, 0, __ATOMIC_RELEASE);
  pthread_create(&thread, NULL, function, NULL);
  wait_until_asleep_in(SYS_futex, &waiting);
  pthread_rwlock_unlock(&lock);
  pthread_join(thread, NULL);
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  errno = 77;
  say("rdlock", pthread_rwlock_rdlock(&lock));
  say("rdlock again", pthread_rwlock_rdlock(&lock));
  run(meets_readers);
  say("unlock", pthread_rwlock_unlock(&lock));
  run_beside(waits_to_write);

  say("wrlock", pthread_rwlock_wrlock(&lock));
  say("wrlock again", pthread_rwlock_wrlock(&lock));
  say("rdlock of the writer", pthread_rwlock_rdlock(&lock));
  say("trywrlock of the writer", pthread_rwlock_trywrlock(&lock));
  run(meets_writer);
  run_beside(waits_to_read);

  struct timespec deadline = in_a_moment(CLOCK_REALTIME);
  say("timedrdlock", pthread_rwlock_timedrdlock(&lock, &deadline));
  say("unlock", pthread_rwlock_unlock(&lock));
  say("timedwrlock", pthread_rwlock_timedwrlock(&lock, &deadline));
  say("unlock", pthread_rwlock_unlock(&lock));
  say("clockwrlock on no clock", pthread_rwlock_clockwrlock(&lock, 99, &deadline));
  deadline.tv_nsec = -1;
  say("timedrdlock until never", pthread_rwlock_timedrdlock(&lock, &deadline));
  printf("errno %d\n", errno);
  return 3;
}
