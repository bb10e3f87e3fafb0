// The main thread computes, then raises a flag that another thread looks at again and again; then the other way round.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 10, STEPS = 4000000 };

static atomic_int turn;

static uint64_t compute(uint64_t number) {
  for (long i = 0; i < STEPS; i++)
    number = number * 6364136223846793005U + 1442695040888963407U;
  return number;
}

static void wait_for(int wanted) {
  while (atomic_load_explicit(&turn, memory_order_acquire) != wanted) {
  }
}

static void* run(void* argument) {
  uint64_t* number = argument;
  for (int round = 0; round < ROUNDS; round++) {
    wait_for(2 * round + 1);
    *number = compute(*number);
    atomic_store_explicit(&turn, 2 * round + 2, memory_order_release);
  }
  return NULL;
}

int main(void) {
  uint64_t number = 1;
  pthread_t thread;
  pthread_create(&thread, NULL, run, &number);
  for (int round = 0; round < ROUNDS; round++) {
    wait_for(2 * round);
    number = compute(number);
    atomic_store_explicit(&turn, 2 * round + 1, memory_order_release);
  }
  pthread_join(thread, NULL);
  printf("%d\n", number != 0);
  return 0;
}
