// 2,000 short threads, ten at a time, and then 300 at once.
#include <pthread.h>
#include <stdio.h>

enum { kBatch = 10, kBatches = 200, kCrowd = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t everyone;
static int count;

static void* counts(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  ++count;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void* meets_everyone(void* unused) {
  pthread_barrier_wait(&everyone);
  return counts(unused);
}

int main(void) {
  pthread_t threads[kCrowd];
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int i = 0; i < kBatch; ++i) {
      pthread_create(&threads[i], NULL, counts, NULL);
    }
    for (int i = 0; i < kBatch; ++i) {
      pthread_join(threads[i], NULL);
    }
  }
  pthread_barrier_init(&everyone, NULL, kCrowd);
  for (int i = 0; i < kCrowd; ++i) {
    pthread_create(&threads[i], NULL, meets_everyone, NULL);
  }
  for (int i = 0; i < kCrowd; ++i) {
    pthread_join(threads[i], NULL);
  }
  printf("%d threads\n", count);
  return 0;
}
