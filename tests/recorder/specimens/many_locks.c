// As many uncontended locks and unlocks as the argument says.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 0;
  for (long i = 0; i < count; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  printf("%ld locks\n", count);
  return 0;
}
