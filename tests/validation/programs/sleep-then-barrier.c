// Two threads sleep and meet at a barrier, in every round: what a causal profiler that slows threads down
// gets wrong (https://github.com/plasma-umass/coz/issues/231). With STEPS, each also computes after its sleep, one
// three times as much as the other.
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 100 };

static pthread_barrier_t barrier;

struct part {
  useconds_t sleep;
  long steps;
  uint64_t number;
};

// Each step needs the one before.
static __attribute__((noinline)) uint64_t compute(uint64_t number, long steps) {
  for (long i = 0; i < steps; i++)
    number = number * 6364136223846793005U + 1442695040888963407U;
  return number;
}

static void* run(void* argument) {
  struct part* part = argument;
  for (int round = 0; round < ROUNDS; round++) {
    usleep(part->sleep);
    part->number = compute(part->number, part->steps);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
  if (steps < (argc > 1 ? 1 : 0) || steps > 100000000) {
    fprintf(stderr, "usage: sleep-then-barrier [STEPS]\n");
    return 2;
  }
  struct part parts[2] = {{2500, 3 * steps, 1}, {10000, steps, 2}};
  pthread_t threads[2];
  pthread_barrier_init(&barrier, NULL, 2);
  for (int i = 0; i < 2; i++) {
    if (pthread_create(&threads[i], NULL, run, &parts[i]) != 0) {
      perror("sleep-then-barrier");
      return 1;
    }
  }
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  printf("%016" PRIx64 "\n", parts[0].number + parts[1].number);
  return 0;
}
