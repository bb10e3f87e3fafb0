/* A program to record: two threads that compute, one of them twice as long, and then what the
 * argument says: "fail" exits with status 3, "crash" aborts, "wait" says so and waits for the end, "yield"
 * gives way to nobody, over and over. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 20 * 1000 * 1000, YIELDS = 1000 };

static volatile uint64_t result[2];

/* Each round needs the one before: no processor makes short work of it. */
__attribute__((noinline)) static void compute(int rounds, volatile uint64_t* number) {
  uint64_t last = *number;
  for (int i = 0; i < rounds; ++i)
    last = last * 6364136223846793005U + 1442695040888963407U;
  *number = last;
}

static void* long_thread(void* unused) {
  compute(2 * ROUNDS, &result[0]);
  return unused;
}

static void* short_thread(void* unused) {
  compute(ROUNDS, &result[1]);
  return unused;
}

int main(int argc, char** argv) {
  const char* const then = argc > 1 ? argv[1] : "";
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, long_thread, NULL);
  pthread_create(&threads[1], NULL, short_thread, NULL);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  printf("computed %s\n", then);
  fflush(stdout);
  if (strcmp(then, "fail") == 0)
    return 3;
  if (strcmp(then, "crash") == 0)
    abort();
  if (strcmp(then, "wait") == 0)
    sleep(3600);
  if (strcmp(then, "yield") == 0) {
    for (int i = 0; i < YIELDS; ++i)
      sched_yield();
  }
  return 0;
}
