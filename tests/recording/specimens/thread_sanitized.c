/* Threads that take turns at a lock, two at once and then forty, under the thread sanitizer, which stands in front of every
 * call. */
#include <pthread.h>

enum { many = 40, many_turns = 100, few_turns = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void* take_turns(void* wanted) {
  for (int i = 0; i < *(const int*)wanted; ++i) {
    pthread_mutex_lock(&lock);
    ++turns;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void start_and_join(int count, int wanted) {
  pthread_t threads[many];
  for (int i = 0; i < count; ++i)
    pthread_create(&threads[i], NULL, take_turns, &wanted);
  for (int i = 0; i < count; ++i)
    pthread_join(threads[i], NULL);
}

int main(void) {
  start_and_join(2, many_turns);
  start_and_join(many, few_turns);
  return turns != 2 * many_turns + many * few_turns;
}
