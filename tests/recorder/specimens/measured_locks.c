// Prints, in picoseconds of CPU time: an uncontended lock and unlock, and a reading of the clock that
// stamps records. For the benchmark of the recorder.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { kPairs = 500000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t sink;

static int64_t cpu_time_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static uint64_t read_stamp(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

static void* returns(void* argument) {
  return argument;
}

int main(void) {
  // Before its first thread a program is spared the locked instructions of its mutexes: of no
  // interest here.
  pthread_t thread;
  pthread_create(&thread, NULL, returns, NULL);
  pthread_join(thread, NULL);

  int64_t start = cpu_time_ns();
  for (int i = 0; i < kPairs; ++i) {
    sink = read_stamp();
  }
  const int64_t stamps = cpu_time_ns() - start;
  start = cpu_time_ns();
  for (int i = 0; i < kPairs; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  const int64_t pairs = cpu_time_ns() - start;
  printf("%lld %lld\n", (long long)(pairs * 1000 / kPairs), (long long)(stamps * 1000 / kPairs));
  return 0;
}
