// 100 threads, one after the other, each of which computes for three milliseconds of its CPU time.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static long used(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void* compute(void* unused) {
  const long end = used() + 3000000;
  while (used() < end) {
  }
  return unused;
}

int main(void) {
  int made = 0;
  for (int i = 0; i < 100; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, compute, NULL) == 0) {
      ++made;
      pthread_join(thread, NULL);
    }
  }
  printf("%d threads\n", made);
  return 0;
}
