// Threads without attributes, of POSIX and of C11, with the smallest default stack that there is, of which they use half,
// and that lock, consume CPU time and create. The default is as the program set it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

enum { kSmallest = 16384, kUsed = 8000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void compute_for(long nanoseconds) {
  struct timespec begin;
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    for (volatile int i = 0; i < 10000; ++i) {
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < nanoseconds);
}

static void* returns(void* argument) {
  return argument;
}

static int uses_much_of_it(void* ignored) {
  (void)ignored;
  volatile char used[kUsed];
  for (int i = 0; i < kUsed; ++i) {
    used[i] = (char)i;
  }
  for (int i = 0; i < 2000; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  compute_for(20000000);
  pthread_t thread;
  pthread_create(&thread, NULL, returns, NULL);
  pthread_join(thread, NULL);
  int changed = 0;
  for (int i = 0; i < kUsed; ++i) {
    changed += used[i] != (char)i;
  }
  return changed;
}

static void* uses_much_of_it_of_posix(void* argument) {
  return (void*)(intptr_t)uses_much_of_it(argument);
}

static size_t default_bytes(void) {
  pthread_attr_t attributes;
  size_t bytes = 0;
  pthread_getattr_default_np(&attributes);
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

static void try_both(void) {
  pthread_t thread;
  void* changed = NULL;
  int result = pthread_create(&thread, NULL, uses_much_of_it_of_posix, NULL);
  pthread_join(thread, &changed);
  printf("result %d, %d bytes changed\n", result, (int)(intptr_t)changed);
  thrd_t of_c11;
  int changed_of_c11 = 0;
  result = thrd_create(&of_c11, uses_much_of_it, NULL);
  thrd_join(of_c11, &changed_of_c11);
  printf("result %d, %d bytes changed\n", result, changed_of_c11);
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kSmallest);
  printf("set %d\n", pthread_setattr_default_np(&attributes));
  printf("%zu bytes by default\n", default_bytes());
  try_both();
  // One that says nothing of stacks leaves the size.
  pthread_attr_t of_nothing;
  pthread_attr_init(&of_nothing);
  printf("set %d\n", pthread_setattr_default_np(&of_nothing));
  printf("%zu bytes by default\n", default_bytes());
  try_both();
  pthread_attr_setstacksize(&attributes, 1 << 20);
  printf("set %d\n", pthread_setattr_default_np(&attributes));
  printf("%zu bytes by default\n", default_bytes());
  return 0;
}
