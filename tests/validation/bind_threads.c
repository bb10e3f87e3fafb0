// Binds the threads of any program to CPUs, in the order in which they are created: for holding a binding
// that was found against real runs.
//
//   LD_PRELOAD=…/libbind_threads.so BIND_THREADS=0,1,1,0 program      the first number is main's
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { most_threads = 4096 };
static int cpus[most_threads];
static unsigned count;
static atomic_uint created = 1;
static int (*real_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

__attribute__((constructor)) static void read_cpus(void) {
  *(void**)&real_create = dlsym(RTLD_NEXT, "pthread_create");
  for (const char* at = getenv("BIND_THREADS");
       at != NULL && *at != '\0' && count < most_threads;) {
    char* end = NULL;
    cpus[count++] = (int)strtol(at, &end, 10);
    at = *end == ',' ? end + 1 : "";
  }
  if (count > 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpus[0], &set);
    sched_setaffinity(0, sizeof set, &set);
  }
}

// The names of glibc's parameters are reserved.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
__attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                          const pthread_attr_t* attributes,
                                                          void* (*start)(void*), void* argument) {
  const unsigned number = atomic_fetch_add(&created, 1);
  pthread_attr_t bound;
  if (number >= count || attributes != NULL)
    return real_create(thread, attributes, start, argument);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpus[number], &set);
  pthread_attr_init(&bound);
  pthread_attr_setaffinity_np(&bound, sizeof set, &set);
  const int error = real_create(thread, &bound, start, argument);
  pthread_attr_destroy(&bound);
  return error;
}
