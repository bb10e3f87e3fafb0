// Two threads share a table under a spin lock and hold it while they work. On two CPUs one spins while the other
// works; on one CPU who spins keeps the owner from going on until its time slice is over.
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 16, ROUNDS = 400 };

static long unit;  // steps
static pthread_spinlock_t lock;
static uint64_t table;

// Each step needs the one before.
static __attribute__((noinline)) uint64_t compute(uint64_t number, long steps) {
  for (long i = 0; i < steps; i++)
    number = number * 6364136223846793005U + 1442695040888963407U;
  return number;
}

static void* run(void* argument) {
  const int self = *(int*)argument;
  uint64_t number = (uint64_t)self;
  for (int round = 0; round < ROUNDS; round++) {
    number = compute(number, unit * (40 + (round * 7 + self * 5) % 40));
    pthread_spin_lock(&lock);
    table += compute(number, unit * 40);
    pthread_spin_unlock(&lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  unit = argc > 1 ? strtol(argv[1], NULL, 10) : 3000;
  const int threads = argc > 2 ? atoi(argv[2]) : 2;
  if (unit < 1 || unit > 100000000 || threads < 1 || threads > MOST_THREADS) {
    fprintf(stderr, "usage: spin-lock [STEPS_PER_UNIT [THREADS]]\n");
    return 2;
  }
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  pthread_t handles[MOST_THREADS];
  int numbers[MOST_THREADS];
  for (int i = 0; i < threads; i++) {
    numbers[i] = i;
    if (pthread_create(&handles[i], NULL, run, &numbers[i]) != 0) {
      perror("spin-lock");
      return 1;
    }
  }
  for (int i = 0; i < threads; i++)
    pthread_join(handles[i], NULL);
  printf("%016" PRIx64 "\n", table);
  return 0;
}
