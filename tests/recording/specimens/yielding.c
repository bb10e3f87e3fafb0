// Main yields until another thread has computed something. On one CPU that takes few yields, as each is worth a time
// slice.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int done;
static volatile unsigned long sum;

static void* compute(void* argument) {
  unsigned long x = 0;
  for (unsigned long i = 0; i < 60 * 1000 * 1000; ++i)
    x = x * 31 + i;
  sum = x;
  done = 1;
  return argument;
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, &compute, NULL) != 0)
    return 1;
  while (!done)
    sched_yield();
  return pthread_join(thread, NULL);
}
