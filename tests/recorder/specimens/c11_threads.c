// C11's own threads, mutexes and conditions, with every answer that they can give.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

#include "asleep.h"

static mtx_t mutex;
static cnd_t condition;
static int ready;

static struct timespec in_a_moment(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  time.tv_nsec += 20 * 1000 * 1000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    ++time.tv_sec;
  }
  return time;
}

static int meets_owned_mutex(void* unused) {
  (void)unused;
  const struct timespec deadline = in_a_moment();
  printf("mtx_trylock of an owned mutex %d\n", mtx_trylock(&mutex));
  printf("mtx_timedlock of an owned mutex %d\n", mtx_timedlock(&mutex, &deadline));
  return 17;
}

static int waiting[2];  // the threads that do, or are about to

static int waits_for_mutex(void* unused) {
  (void)unused;
  __atomic_store_n(&waiting[0], thread_id(), __ATOMIC_RELEASE);
  mtx_lock(&mutex);
  mtx_unlock(&mutex);
  thrd_exit(18);
}

static int waits_for_condition(void* which) {
  mtx_lock(&mutex);
  __atomic_store_n((int*)which, thread_id(), __ATOMIC_RELEASE);
  while (!ready) {
    cnd_wait(&condition, &mutex);
  }
  mtx_unlock(&mutex);
  return 0;
}

int main(void) {
  int result = 0;
  setvbuf(stdout, NULL, _IONBF, 0);
  errno = 77;
  mtx_init(&mutex, mtx_timed);
  cnd_init(&condition);
  printf("mtx_lock %d\n", mtx_lock(&mutex));
  thrd_t thread;
  const int created = thrd_create(&thread, meets_owned_mutex, NULL);
  printf("thrd_join %d\n", thrd_join(thread, &result));
  printf("result %d, thrd_create %d\n", result, created);
  thrd_create(&thread, waits_for_mutex, NULL);
  wait_until_asleep_in(SYS_futex, &waiting[0]);
  printf("mtx_unlock %d\n", mtx_unlock(&mutex));
  thrd_join(thread, &result);
  printf("result %d\n", result);

  printf("mtx_trylock %d\n", mtx_trylock(&mutex));
  struct timespec deadline = in_a_moment();
  printf("cnd_timedwait %d\n", cnd_timedwait(&condition, &mutex, &deadline));
  mtx_unlock(&mutex);
  thrd_t threads[2];
  for (int i = 0; i < 2; ++i) {
    __atomic_store_n(&waiting[i], 0, __ATOMIC_RELEASE);
    thrd_create(&threads[i], waits_for_condition, &waiting[i]);
  }
  for (int i = 0; i < 2; ++i) {
    wait_until_asleep_in(SYS_futex, &waiting[i]);
  }
  mtx_lock(&mutex);
  ready = 1;
  printf("cnd_signal %d\n", cnd_signal(&condition));
  printf("cnd_broadcast %d\n", cnd_broadcast(&condition));
  mtx_unlock(&mutex);
  thrd_join(threads[0], NULL);
  printf("thrd_detach %d\n", thrd_detach(threads[1]));
  wait_until_gone(waiting[1]);
  printf("thrd_join of oneself %d\n", thrd_join(thrd_current(), NULL));
  printf("errno %d\n", errno);
  return 0;
}
