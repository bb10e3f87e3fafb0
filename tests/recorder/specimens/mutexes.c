// Every mutex call, with every answer that it can give.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "asleep.h"

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

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;

static void* meets_owned_mutex(void* unused) {
  (void)unused;
  struct timespec deadline = in_a_moment(CLOCK_REALTIME);
  say("trylock of an owned mutex", pthread_mutex_trylock(&shared));
  say("timedlock of an owned mutex", pthread_mutex_timedlock(&shared, &deadline));
  deadline = in_a_moment(CLOCK_MONOTONIC);
  say("clocklock of an owned mutex", pthread_mutex_clocklock(&shared, CLOCK_MONOTONIC, &deadline));
  return NULL;
}

static int waiting;  // the thread that does, or is about to

static void* waits_for_mutex(void* unused) {
  (void)unused;
  __atomic_store_n(&waiting, thread_id(), __ATOMIC_RELEASE);
  say("lock", pthread_mutex_lock(&shared));
  say("unlock", pthread_mutex_unlock(&shared));
  return NULL;
}

static void* dies_with_mutex(void* mutex) {
  say("robust lock", pthread_mutex_lock(mutex));
  return NULL;
}

static pthread_mutex_t of_type(int type, int robust) {
  pthread_mutexattr_t attributes;
  pthread_mutex_t mutex;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  if (robust) {
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  }
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return mutex;
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  errno = 77;
  struct timespec deadline = in_a_moment(CLOCK_REALTIME);
  say("lock", pthread_mutex_lock(&shared));
  say("unlock", pthread_mutex_unlock(&shared));
  say("trylock", pthread_mutex_trylock(&shared));
  say("unlock", pthread_mutex_unlock(&shared));
  say("timedlock", pthread_mutex_timedlock(&shared, &deadline));
  say("unlock", pthread_mutex_unlock(&shared));
  say("clocklock", pthread_mutex_clocklock(&shared, CLOCK_MONOTONIC, &deadline));
  say("unlock", pthread_mutex_unlock(&shared));
  say("clocklock on no clock", pthread_mutex_clocklock(&shared, 99, &deadline));

  pthread_t thread;
  pthread_mutex_lock(&shared);
  pthread_create(&thread, NULL, meets_owned_mutex, NULL);
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, waits_for_mutex, NULL);
  wait_until_asleep_in(SYS_futex, &waiting);
  pthread_mutex_unlock(&shared);
  pthread_join(thread, NULL);

  pthread_mutex_t recursive = of_type(PTHREAD_MUTEX_RECURSIVE, 0);
  say("recursive lock", pthread_mutex_lock(&recursive));
  say("recursive lock again", pthread_mutex_lock(&recursive));
  say("recursive unlock", pthread_mutex_unlock(&recursive));
  say("recursive unlock again", pthread_mutex_unlock(&recursive));
  say("recursive unlock too often", pthread_mutex_unlock(&recursive));

  pthread_mutex_t checking = of_type(PTHREAD_MUTEX_ERRORCHECK, 0);
  say("checking lock", pthread_mutex_lock(&checking));
  say("checking lock again", pthread_mutex_lock(&checking));
  say("checking trylock", pthread_mutex_trylock(&checking));
  say("checking unlock", pthread_mutex_unlock(&checking));
  say("checking unlock again", pthread_mutex_unlock(&checking));

  pthread_mutex_t robust = of_type(PTHREAD_MUTEX_NORMAL, 1);
  pthread_create(&thread, NULL, dies_with_mutex, &robust);
  pthread_join(thread, NULL);
  say("lock of a dead owner's mutex", pthread_mutex_lock(&robust));
  say("unlock without repair", pthread_mutex_unlock(&robust));
  say("lock of a lost mutex", pthread_mutex_lock(&robust));

  pthread_mutex_t adaptive = of_type(PTHREAD_MUTEX_ADAPTIVE_NP, 0);
  say("adaptive lock", pthread_mutex_lock(&adaptive));
  say("adaptive unlock", pthread_mutex_unlock(&adaptive));
  printf("errno %d\n", errno);
  return 3;
}
