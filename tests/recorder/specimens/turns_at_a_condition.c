// Four threads take 12,000 turns at a condition variable, each of which wakes all the others. In lockstep, where nobody sees when a
// wait for it gives its mutex up, a thread that looked for that mutex now and then would be late each time: the whole lasted a minute.
#include <pthread.h>
#include <stdio.h>

enum { threads = 4, rounds = 3000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void compute(void) {
  for (volatile int i = 0; i < 2000; ++i) {
  }
}

static void* takes_turns(void* number) {
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&mutex);
    while (turn != *(int*)number) {
      pthread_cond_wait(&changed, &mutex);
    }
    compute();
    turn = (turn + 1) % threads;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    compute();
  }
  return NULL;
}

int main(void) {
  pthread_t started[threads];
  int numbers[threads];
  for (int i = 0; i < threads; ++i) {
    numbers[i] = i;
    pthread_create(&started[i], NULL, takes_turns, &numbers[i]);
  }
  for (int i = 0; i < threads; ++i) {
    pthread_join(started[i], NULL);
  }
  printf("%d turns\n", threads * rounds);
  return 0;
}
