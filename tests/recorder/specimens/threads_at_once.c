// 2,000 threads that all live at the same time.
#include <pthread.h>
#include <stdio.h>

enum { threads = 2000 };

static pthread_barrier_t all;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int alive;

static void* lives(void* unused) {
  pthread_mutex_lock(&mutex);
  ++alive;
  pthread_mutex_unlock(&mutex);
  pthread_barrier_wait(&all);
  return unused;
}

int main(void) {
  static pthread_t thread[threads];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  pthread_barrier_init(&all, NULL, threads + 1);
  for (int i = 0; i < threads; ++i) {
    if (pthread_create(&thread[i], &small, lives, NULL) != 0) {
      return 1;
    }
  }
  pthread_barrier_wait(&all);
  printf("%d alive\n", alive);
  for (int i = 0; i < threads; ++i) {
    pthread_join(thread[i], NULL);
  }
  return 0;
}
