/* Two threads compute, one twice as long as the other, taking turns at a lock now and then. Prints the CPU time that the
 * process has used, and each of them, in nanoseconds, just before it ends with status 7. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink;

static void burn(unsigned long rounds) {
  unsigned long x = 1;
  for (unsigned long i = 0; i < rounds; ++i)
    x = x * 6364136223846793005ul + 1442695040888963407ul;
  sink = x;
}

static long long used(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

struct work {
  unsigned long times;
  long long used;
};

static void* work(void* argument) {
  struct work* const own = argument;
  for (unsigned long i = 0; i < 20 * own->times; ++i) {
    burn(8000000);
    pthread_mutex_lock(&turn);
    burn(10000);
    pthread_mutex_unlock(&turn);
  }
  own->used = used(CLOCK_THREAD_CPUTIME_ID);
  return NULL;
}

int main(void) {
  static struct work works[2] = {{1, 0}, {2, 0}};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, work, &works[i]);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  printf("%lld %lld %lld\n", used(CLOCK_PROCESS_CPUTIME_ID), works[0].used, works[1].used);
  return 7;
}
