// Four workers, each with a deque of tasks. Who has none left takes some from another. The tasks are uneven
// and one deque has most of the work, so who takes what decides how long it lasts; on one CPU the worker that
// happens to run takes it all.
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 4, TASKS = 64 };

static struct {
  _Alignas(64) pthread_mutex_t lock;
  int first;
  int last;
  int tasks[TASKS];
} deques[WORKERS];

static long unit;  // steps
static atomic_int tasks_left = WORKERS * TASKS;
static atomic_uint_fast64_t result;

// Each step needs the one before.
static __attribute__((noinline)) uint64_t compute(uint64_t number, long steps) {
  for (long i = 0; i < steps; i++)
    number = number * 6364136223846793005U + 1442695040888963407U;
  return number;
}

// The newest of one's own.
static int pop(int self) {
  int task = 0;
  pthread_mutex_lock(&deques[self].lock);
  if (deques[self].first < deques[self].last)
    task = deques[self].tasks[--deques[self].last];
  pthread_mutex_unlock(&deques[self].lock);
  return task;
}

// The oldest of another's, unless that is busy.
static int steal(int victim) {
  int task = 0;
  if (pthread_mutex_trylock(&deques[victim].lock) != 0)
    return 0;
  if (deques[victim].first < deques[victim].last)
    task = deques[victim].tasks[deques[victim].first++];
  pthread_mutex_unlock(&deques[victim].lock);
  return task;
}

static void* work(void* argument) {
  const int self = *(int*)argument;
  while (atomic_load(&tasks_left) > 0) {
    int task = pop(self);
    for (int i = 1; task == 0 && i < WORKERS; i++)
      task = steal((self + i) % WORKERS);
    if (task == 0) {
      sched_yield();
      continue;
    }
    atomic_fetch_add(&result, compute((uint64_t)task, unit * task));
    atomic_fetch_sub(&tasks_left, 1);
  }
  return NULL;
}

int main(int argc, char** argv) {
  unit = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
  if (unit < 1 || unit > 100000000) {
    fprintf(stderr, "usage: work-stealing [STEPS_PER_UNIT]\n");
    return 2;
  }
  for (int i = 0; i < WORKERS; i++) {
    pthread_mutex_init(&deques[i].lock, NULL);
    for (int j = 0; j < TASKS; j++) {
      // From 1 to 100, and four times as much in the first deque.
      const int size = 1 + (j * 37 + i * 11) % 25;
      deques[i].tasks[deques[i].last++] = i == 0 ? size * 4 : size;
    }
  }
  pthread_t threads[WORKERS];
  int numbers[WORKERS];
  for (int i = 0; i < WORKERS; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0) {
      perror("work-stealing");
      return 1;
    }
  }
  for (int i = 0; i < WORKERS; i++)
    pthread_join(threads[i], NULL);
  printf("%016" PRIx64 "\n", (uint64_t)atomic_load(&result));
  return 0;
}
