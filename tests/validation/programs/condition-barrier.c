// Four threads meet in every round at a barrier that is built on a condition variable, as programs do that are
// older than pthread_barrier_wait or need more of a barrier. Who has most to do changes from round to round.
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 100 };

static long unit;  // steps

static struct {
  pthread_mutex_t lock;
  pthread_cond_t all_here;
  int arrived;
  int round;
} barrier = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static void wait_for_all(void) {
  pthread_mutex_lock(&barrier.lock);
  const int round = barrier.round;
  if (++barrier.arrived == THREADS) {
    barrier.arrived = 0;
    barrier.round++;
    pthread_cond_broadcast(&barrier.all_here);
  } else {
    while (barrier.round == round)
      pthread_cond_wait(&barrier.all_here, &barrier.lock);
  }
  pthread_mutex_unlock(&barrier.lock);
}

// Each step needs the one before.
static __attribute__((noinline)) uint64_t compute(uint64_t number, long steps) {
  for (long i = 0; i < steps; i++)
    number = number * 6364136223846793005U + 1442695040888963407U;
  return number;
}

static void* run(void* argument) {
  uint64_t* number = argument;
  const int self = (int)*number;
  for (int round = 0; round < ROUNDS; round++) {
    *number = compute(*number, unit * (3 + (self * 7 + round * 3) % 5));
    wait_for_all();
  }
  return NULL;
}

int main(int argc, char** argv) {
  unit = argc > 1 ? strtol(argv[1], NULL, 10) : 400000;
  if (unit < 1 || unit > 100000000) {
    fprintf(stderr, "usage: condition-barrier [STEPS_PER_UNIT]\n");
    return 2;
  }
  pthread_t threads[THREADS];
  uint64_t numbers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = (uint64_t)i;
    if (pthread_create(&threads[i], NULL, run, &numbers[i]) != 0) {
      perror("condition-barrier");
      return 1;
    }
  }
  uint64_t sum = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    sum += numbers[i];
  }
  printf("%016" PRIx64 "\n", sum);
  return 0;
}
