// Two threads meet at a barrier in every round. `slow` computes 100 units in each, `fast` 80: what it
// is worth to make either faster is known without any tool.
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const int rounds = 10;
static pthread_barrier_t barrier;
static long unit;  // steps

// Each step needs the one before.
static __attribute__((noinline)) uint64_t slow(uint64_t number) {
  for (long i = 0; i < 100 * unit; i++)
    number = number * 6364136223846793005U + 1442695040888963407U;
  return number;
}

static __attribute__((noinline)) uint64_t fast(uint64_t number) {
  for (long i = 0; i < 80 * unit; i++)
    number = number * 6364136223846793005U + 1442695040888963407U;
  return number;
}

static void* run_slow(void* result) {
  uint64_t number = 1;
  for (int round = 0; round < rounds; round++) {
    number = slow(number);
    pthread_barrier_wait(&barrier);
  }
  *(uint64_t*)result = number;
  return NULL;
}

static void* run_fast(void* result) {
  uint64_t number = 1;
  for (int round = 0; round < rounds; round++) {
    number = fast(number);
    pthread_barrier_wait(&barrier);
  }
  *(uint64_t*)result = number;
  return NULL;
}

int main(int argc, char** argv) {
  unit = argc > 1 ? strtol(argv[1], NULL, 10) : 160000;
  if (unit < 1 || unit > 100000000) {
    fprintf(stderr, "usage: two-at-a-barrier [STEPS_PER_UNIT]\n");
    return 2;
  }
  uint64_t results[2];
  pthread_t threads[2];
  pthread_barrier_init(&barrier, NULL, 2);
  if (pthread_create(&threads[0], NULL, run_slow, &results[0]) != 0 ||
      pthread_create(&threads[1], NULL, run_fast, &results[1]) != 0) {
    perror("two-at-a-barrier");
    return 1;
  }
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  printf("%016" PRIx64 " %016" PRIx64 "\n", results[0], results[1]);
  return 0;
}
