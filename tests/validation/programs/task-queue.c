// Four workers take tasks from one queue, which main fills: a mutex, and a condition for "not empty or done". Tasks are
// of different lengths, and each is prepared before it is put in.
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 4, TASKS = 600 };

static long unit;  // steps

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int tasks[TASKS];
  int put;
  int taken;
  bool done;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

// Each step needs the one before.
static __attribute__((noinline)) uint64_t compute(uint64_t number, long steps) {
  for (long i = 0; i < steps; i++)
    number = number * 6364136223846793005U + 1442695040888963407U;
  return number;
}

// False when there will be no more.
static bool take(int* task) {
  pthread_mutex_lock(&queue.lock);
  while (queue.taken == queue.put && !queue.done)
    pthread_cond_wait(&queue.changed, &queue.lock);
  const bool found = queue.taken < queue.put;
  if (found)
    *task = queue.tasks[queue.taken++];
  pthread_mutex_unlock(&queue.lock);
  return found;
}

static void put(int task) {
  pthread_mutex_lock(&queue.lock);
  queue.tasks[queue.put++] = task;
  pthread_cond_signal(&queue.changed);
  pthread_mutex_unlock(&queue.lock);
}

static void finish(void) {
  pthread_mutex_lock(&queue.lock);
  queue.done = true;
  pthread_cond_broadcast(&queue.changed);
  pthread_mutex_unlock(&queue.lock);
}

static void* work(void* argument) {
  uint64_t* sum = argument;
  for (int task = 0; take(&task);)
    *sum += compute((uint64_t)task, unit * (5 + task * 37 % 11));
  return NULL;
}

int main(int argc, char** argv) {
  unit = argc > 1 ? strtol(argv[1], NULL, 10) : 150000;
  if (unit < 1 || unit > 100000000) {
    fprintf(stderr, "usage: task-queue [STEPS_PER_UNIT]\n");
    return 2;
  }
  pthread_t threads[WORKERS];
  uint64_t sums[WORKERS] = {0};
  for (int i = 0; i < WORKERS; i++) {
    if (pthread_create(&threads[i], NULL, work, &sums[i]) != 0) {
      perror("task-queue");
      return 1;
    }
  }
  uint64_t prepared = 0;
  for (int task = 0; task < TASKS; task++) {
    prepared = compute(prepared, unit * 3 / 2);
    put(task);
  }
  finish();
  for (int i = 0; i < WORKERS; i++) {
    pthread_join(threads[i], NULL);
    prepared += sums[i];
  }
  printf("%016" PRIx64 "\n", prepared);
  return 0;
}
