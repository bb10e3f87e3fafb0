/* Two threads compute, one twice as long as the other, taking turns at a lock now and then. Prints the
 * CPU time that the process has used, in nanoseconds, just before it ends with status 7. */
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

static void* work(void* argument) {
  const unsigned long times = *(const unsigned long*)argument;
  for (unsigned long i = 0; i < 20 * times; ++i) {
    burn(8000000);
    pthread_mutex_lock(&turn);
    burn(10000);
    pthread_mutex_unlock(&turn);
  }
  return NULL;
}

int main(void) {
  static const unsigned long times[2] = {1, 2};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, work, (void*)&times[i]);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  printf("%lld\n", used.tv_sec * 1000000000ll + used.tv_nsec);
  return 7;
}
