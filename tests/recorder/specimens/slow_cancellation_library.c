// Preloaded beside the recorder, stands in front of what the recorder calls for a wait and the program does not: whoever
// measures what recording adds to a wait must find at least this.
#include <pthread.h>
#include <time.h>

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

void pthread_testcancel(void) {
  const long long end = now() + 20000;
  while (now() < end) {
  }
}
