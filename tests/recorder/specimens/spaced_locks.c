// Takes a mutex so many times, with a tenth of a millisecond of computing before each, and prints how often the kernel has
// taken its CPU from it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char** argv) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const int times = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < times; ++i) {
    const long long end = now() + 100000;
    while (now() < end) {
    }
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  struct rusage used;
  getrusage(RUSAGE_THREAD, &used);
  printf("%ld\n", used.ru_nvcsw + used.ru_nivcsw);
  return 0;
}
