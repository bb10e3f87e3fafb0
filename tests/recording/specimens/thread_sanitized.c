/* Two threads that take turns at a lock, under the thread sanitizer, which stands in front of every call. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void* take_turns(void* unused) {
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&lock);
    ++turns;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, take_turns, NULL);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  return turns != 200;
}
