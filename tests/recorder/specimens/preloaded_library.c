// A library of the program's own that is preloaded beside the recorder and stands in front of the same
// functions.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int locks;

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static int (*next)(pthread_mutex_t*);
  if (next == NULL) {
    *(void**)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  }
  __atomic_fetch_add(&locks, 1, __ATOMIC_RELAXED);
  return next(mutex);
}

__attribute__((destructor)) static void report(void) {
  printf("%s\n", locks >= 200 ? "its library saw the locks" : "its library saw nothing");
}
