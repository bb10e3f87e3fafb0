// Prints, in picoseconds of CPU time: an uncontended lock and unlock, and a reading of the clock that
// stamps records. For the benchmark of the recorder.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { kPairs = 500000 };

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

// A cache line and its neighbour, which are fetched together, for each thread.
enum { kMostThreads = 2 };
static struct {
  _Alignas(128) pthread_mutex_t mutex;
  int64_t pairs_ns;
} locked[kMostThreads] = {{PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 0}};

static void* lock_and_unlock(void* argument) {
  const size_t own = (size_t)argument;
  const int64_t start = cpu_time_ns();
  for (int i = 0; i < kPairs; ++i) {
    pthread_mutex_lock(&locked[own].mutex);
    pthread_mutex_unlock(&locked[own].mutex);
  }
  locked[own].pairs_ns = cpu_time_ns() - start;
  return argument;
}

// With an argument: in two threads, each on a mutex of its own. Otherwise in a thread that was not the
// first: before that one a program is spared the locked instructions of its mutexes.
int main(int argc, char** argv) {
  (void)argv;
  const size_t threads = argc > 1 ? kMostThreads : 1;
  int64_t start = cpu_time_ns();
  for (int i = 0; i < kPairs; ++i) {
    sink = read_stamp();
  }
  const int64_t stamps = cpu_time_ns() - start;
  pthread_t handles[kMostThreads];
  for (size_t i = 0; i < threads; ++i) {
    pthread_create(&handles[i], NULL, lock_and_unlock, (void*)i);
  }
  int64_t pairs = 0;
  for (size_t i = 0; i < threads; ++i) {
    pthread_join(handles[i], NULL);
    pairs += locked[i].pairs_ns / (int64_t)threads;
  }
  printf("%lld %lld\n", (long long)(pairs * 1000 / kPairs), (long long)(stamps * 1000 / kPairs));
  return 0;
}
