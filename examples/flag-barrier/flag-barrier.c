// Threads meet in every round at a barrier made of flags: each raises its own and spins until all are up.
// No recorder sees that, and on one CPU who spins burns the time that the others need.
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 16, ROUNDS = 300 };

static long unit;  // steps
static int threads = 2;

// A cache line each.
static struct { _Alignas(64) atomic_int round; } flags[MOST_THREADS];

// Each step needs the one before.
static __attribute__((noinline)) uint64_t compute(uint64_t number, long steps) {
  for (long i = 0; i < steps; i++)
    number = number * 6364136223846793005U + 1442695040888963407U;
  return number;
}

static __attribute__((noinline)) void wait_for_all(int round) {
  for (int other = 0; other < threads; other++)
    while (atomic_load_explicit(&flags[other].round, memory_order_acquire) < round) {
    }
}

static void* run(void* argument) {
  const int self = *(int*)argument;
  uint64_t number = (uint64_t)self;
  for (int round = 1; round <= ROUNDS; round++) {
    // Who has most to do changes from round to round.
    number = compute(number, unit * (60 + 80 * ((round * 5 + self * 3) % 7) / 6));
    atomic_store_explicit(&flags[self].round, round, memory_order_release);
    wait_for_all(round);
  }
  return (void*)(uintptr_t)number;
}

int main(int argc, char** argv) {
  unit = argc > 1 ? strtol(argv[1], NULL, 10) : 3000;
  threads = argc > 2 ? atoi(argv[2]) : 2;
  if (unit < 1 || unit > 100000000 || threads < 1 || threads > MOST_THREADS) {
    fprintf(stderr, "usage: flag-barrier [STEPS_PER_UNIT [THREADS]]\n");
    return 2;
  }
  pthread_t handles[MOST_THREADS];
  int numbers[MOST_THREADS];
  for (int i = 0; i < threads; i++) {
    numbers[i] = i;
    if (pthread_create(&handles[i], NULL, run, &numbers[i]) != 0) {
      perror("flag-barrier");
      return 1;
    }
  }
  uint64_t sum = 0;
  for (int i = 0; i < threads; i++) {
    void* number;
    pthread_join(handles[i], &number);
    sum += (uint64_t)(uintptr_t)number;
  }
  printf("%016" PRIx64 "\n", sum);
  return 0;
}
