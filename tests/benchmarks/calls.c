// Makes so many recorded calls that little else is left, ten million a second or so: in one of several ways.
//
//   calls locks|apart|readers|semaphores|queue|threads|crowd [ROUNDS]
//
//   locks        one thread, one mutex, and computing under it
//   apart        four threads with sixteen mutexes each, and computing outside
//   readers      four threads that look things up under a read-write lock, and seldom change them
//   semaphores   one thread hands items to another through two semaphores and a mutex
//   queue        likewise, through a mutex and two conditions
//   threads      one thread starts others that do nothing, and joins each before the next
//   crowd        likewise, and joins them when all have come to a barrier
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 4, MUTEXES = 16, ROOM = 128, TABLE = 1024 };

static long rounds;
static volatile double sink;

// Each step needs the one before.
static double compute(double x, int steps) {
  for (int k = 0; k < steps; ++k)
    x = x * 1.0000001 + 1e-9;
  return x;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* lock_and_compute(void* argument) {
  double x = 1;
  for (long i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&mutex);
    x = compute(x, 60);
    pthread_mutex_unlock(&mutex);
  }
  sink = x;
  return argument;
}

static struct {
  _Alignas(64) pthread_mutex_t mutex;
  long count;
} counters[MOST_THREADS][MUTEXES];

static void* count_apart(void* argument) {
  const long self = (long)argument;
  double x = 1;
  for (long i = 0; i < rounds / MOST_THREADS; ++i) {
    const int which = (int)(i * 7 % MUTEXES);
    pthread_mutex_lock(&counters[self][which].mutex);
    ++counters[self][which].count;
    pthread_mutex_unlock(&counters[self][which].mutex);
    x = compute(x, 60 + 2 * which);
  }
  sink = x;
  return argument;
}

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static long table[TABLE];

static void* look_up(void* argument) {
  long at = (long)argument;
  for (long i = 0; i < rounds / MOST_THREADS; ++i) {
    if (i % 100 == 0) {
      pthread_rwlock_wrlock(&table_lock);
      table[(i + at) & (TABLE - 1)] += i;
      pthread_rwlock_unlock(&table_lock);
    }
    pthread_rwlock_rdlock(&table_lock);
    for (int k = 0; k < 60; ++k)
      at = table[(at + i) & (TABLE - 1)] + k;
    pthread_rwlock_unlock(&table_lock);
  }
  sink = (double)at;
  return argument;
}

static struct {
  double items[ROOM];
  long put;
  long taken;
} ring;

static sem_t filled;
static sem_t empty;

static void* put_by_semaphores(void* argument) {
  double x = 1;
  for (long i = 0; i < rounds; ++i) {
    x = compute(x, 40);
    sem_wait(&empty);
    pthread_mutex_lock(&mutex);
    ring.items[ring.put++ % ROOM] = x;
    pthread_mutex_unlock(&mutex);
    sem_post(&filled);
  }
  return argument;
}

static void* take_by_semaphores(void* argument) {
  double sum = 0;
  for (long i = 0; i < rounds; ++i) {
    sem_wait(&filled);
    pthread_mutex_lock(&mutex);
    const double x = ring.items[ring.taken++ % ROOM];
    pthread_mutex_unlock(&mutex);
    sem_post(&empty);
    sum += compute(x, 40);
  }
  sink = sum;
  return argument;
}

static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;

static void* put_by_conditions(void* argument) {
  double x = 1;
  for (long i = 0; i < rounds; ++i) {
    x = compute(x, 40);
    pthread_mutex_lock(&mutex);
    while (ring.put - ring.taken == ROOM)
      pthread_cond_wait(&not_full, &mutex);
    ring.items[ring.put++ % ROOM] = x;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&mutex);
  }
  return argument;
}

static void* take_by_conditions(void* argument) {
  double sum = 0;
  for (long i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&mutex);
    while (ring.put == ring.taken)
      pthread_cond_wait(&not_empty, &mutex);
    const double x = ring.items[ring.taken++ % ROOM];
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&mutex);
    sum += compute(x, 40);
  }
  sink = sum;
  return argument;
}

static void* do_nothing(void* argument) {
  return argument;
}

static void* start_and_join(void* argument) {
  for (long i = 0; i < rounds; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
      pthread_join(thread, NULL);
  }
  return argument;
}

static pthread_barrier_t all_are_here;

static void* come_and_go(void* argument) {
  pthread_barrier_wait(&all_are_here);
  return argument;
}

static void* start_a_crowd(void* argument) {
  pthread_t* crowd = calloc((size_t)rounds, sizeof *crowd);
  pthread_barrier_init(&all_are_here, NULL, (unsigned)rounds);
  for (long i = 0; crowd != NULL && i < rounds; ++i)
    if (pthread_create(&crowd[i], NULL, come_and_go, NULL) != 0)
      exit(1);
  for (long i = 0; crowd != NULL && i < rounds; ++i)
    pthread_join(crowd[i], NULL);
  free(crowd);
  return argument;
}

static const struct {
  const char* name;
  void* (*threads[MOST_THREADS])(void*);
} ways[] = {
    {"locks", {lock_and_compute}},
    {"apart", {count_apart, count_apart, count_apart, count_apart}},
    {"readers", {look_up, look_up, look_up, look_up}},
    {"semaphores", {put_by_semaphores, take_by_semaphores}},
    {"queue", {put_by_conditions, take_by_conditions}},
    {"threads", {start_and_join}},
    {"crowd", {start_a_crowd}},
};

int main(int argc, char** argv) {
  rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
  for (int t = 0; t < MOST_THREADS; ++t)
    for (int m = 0; m < MUTEXES; ++m)
      pthread_mutex_init(&counters[t][m].mutex, NULL);
  sem_init(&filled, 0, 0);
  sem_init(&empty, 0, ROOM);
  for (size_t way = 0; way < sizeof ways / sizeof *ways; ++way)
    if (argc > 1 && strcmp(argv[1], ways[way].name) == 0) {
      pthread_t threads[MOST_THREADS];
      long started = 0;
      for (; started < MOST_THREADS && ways[way].threads[started] != NULL; ++started)
        pthread_create(&threads[started], NULL, ways[way].threads[started], (void*)started);
      for (long t = 0; t < started; ++t)
        pthread_join(threads[t], NULL);
      return 0;
    }
  fputs("usage: calls locks|apart|readers|semaphores|queue|threads|crowd [ROUNDS]\n", stderr);
  return 2;
}
