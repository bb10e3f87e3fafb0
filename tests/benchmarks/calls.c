// Locks and unlocks so often, ten million calls a second or so, and computes in between.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile double sink;

static void* work(void* argument) {
  const long pairs = *(const long*)argument;
  double x = 1;
  for (long i = 0; i < pairs; ++i) {
    pthread_mutex_lock(&mutex);
    for (int k = 0; k < 60; ++k)
      x = x * 1.0000001 + 1e-9;
    pthread_mutex_unlock(&mutex);
  }
  sink = x;
  return argument;
}

int main(int argc, char** argv) {
  long pairs = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
  pthread_t thread;
  pthread_create(&thread, NULL, work, &pairs);
  pthread_join(thread, NULL);
  return 0;
}
