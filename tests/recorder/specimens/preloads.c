// Runs with a library of its own preloaded, which is to stay so for what it starts.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* locks(void* mutex) {
  for (int i = 0; i < 200; ++i) {
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
  }
  return NULL;
}

int main(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_t thread;
  pthread_create(&thread, NULL, locks, &mutex);
  pthread_join(thread, NULL);
  const char* preload = getenv("LD_PRELOAD");
  printf("%s\n", preload == NULL                        ? "no preload"
                 : strstr(preload, "preloaded") != NULL ? "its own preload"
                                                        : "another preload");
  return 0;
}
