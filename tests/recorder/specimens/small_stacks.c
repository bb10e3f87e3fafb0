// Threads with the smallest stack that there is, of which they use half, and that lock, consume CPU time, create and
// join. Then one on memory of its own.
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kSmallest = 16384, kUsed = 8000, kUsedOfOwn = 4000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(4096) char own_stack[65536];
static size_t bytes_used;

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

static int is_in_own_stack(const volatile char* place) {
  const uintptr_t offset = (uintptr_t)place - (uintptr_t)own_stack;
  return offset < sizeof own_stack;
}

static void* uses_much_of_it(void* stays) {
  volatile char used[bytes_used];
  for (size_t i = 0; i < bytes_used; ++i) {
    used[i] = (char)i;
  }
  // More than one chunk.
  for (int i = 0; i < 2000; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  compute_for(20000000);
  pthread_attr_t small;
  pthread_t thread;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, kSmallest);
  pthread_create(&thread, &small, returns, NULL);
  pthread_join(thread, NULL);
  int changed = 0;
  for (size_t i = 0; i < bytes_used; ++i) {
    changed += used[i] != (char)i;
  }
  *(int*)stays = is_in_own_stack(used);
  return (void*)(intptr_t)changed;
}

static void try_with(const pthread_attr_t* attributes) {
  pthread_t thread;
  void* changed = NULL;
  int on_own_stack = 0;
  const int result = pthread_create(&thread, attributes, uses_much_of_it, &on_own_stack);
  if (result == 0) {
    pthread_join(thread, &changed);
  }
  printf("result %d, %d bytes changed, %s\n", result, (int)(intptr_t)changed,
         on_own_stack ? "on its own stack" : "on another");
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kSmallest);
  bytes_used = kUsed;
  for (int i = 0; i < 3; ++i) {
    try_with(&attributes);
  }
  void* stack = NULL;
  size_t bytes = 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  printf("%zu bytes asked for\n", bytes);
  bytes_used = kUsedOfOwn;
  pthread_attr_setstack(&attributes, own_stack, sizeof own_stack);
  try_with(&attributes);
  pthread_attr_getstack(&attributes, &stack, &bytes);
  printf("%s, %zu bytes\n", stack == own_stack ? "its own" : "another", bytes);
  pthread_attr_destroy(&attributes);
  return 0;
}
