// In every frame two threads compute as much, the one woken by the other, and then there is a pause: together they use little
// of a CPU. Kernels that pack such threads on one CPU let them take turns though another one is idle.
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { FRAMES = 150, PAUSE_US = 7000 };

static const long steps = 2000000;
static sem_t begun;
static sem_t done;

// Each step needs the one before.
static __attribute__((noinline)) uint64_t compute(uint64_t number) {
  for (long i = 0; i < steps; i++)
    number = number * 6364136223846793005U + 1442695040888963407U;
  return number;
}

static void* help(void* argument) {
  uint64_t* number = argument;
  for (int frame = 0; frame < FRAMES; frame++) {
    sem_wait(&begun);
    *number = compute(*number);
    sem_post(&done);
  }
  return NULL;
}

int main(void) {
  sem_init(&begun, 0, 0);
  sem_init(&done, 0, 0);
  uint64_t numbers[2] = {1, 2};
  pthread_t helper;
  if (pthread_create(&helper, NULL, help, &numbers[1]) != 0) {
    fprintf(stderr, "frames: cannot start a thread\n");
    return 1;
  }
  for (int frame = 0; frame < FRAMES; frame++) {
    sem_post(&begun);
    numbers[0] = compute(numbers[0]);
    sem_wait(&done);
    usleep(PAUSE_US);
  }
  pthread_join(helper, NULL);
  printf("%" PRIu64 "\n", numbers[0] ^ numbers[1]);
  return 0;
}
