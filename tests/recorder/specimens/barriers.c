// Three threads meet four times; one of each meeting is told so.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_barrier_t barrier;
static int serial;

static void* meets(void* unused) {
  (void)unused;
  for (int i = 0; i < 4; ++i) {
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
      __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
    }
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  pthread_barrier_t none;
  printf("init of nobody: %s\n", strerror(pthread_barrier_init(&none, NULL, 0)));
  printf("init: %s\n", strerror(pthread_barrier_init(&barrier, NULL, 3)));
  for (int i = 0; i < 2; ++i) {
    pthread_create(&threads[i], NULL, meets, NULL);
  }
  meets(NULL);
  for (int i = 0; i < 2; ++i) {
    pthread_join(threads[i], NULL);
  }
  printf("serial %d\n", serial);
  return 0;
}
