// Main leaves by pthread_exit; the thread that outlives it ends the process.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* outlives(void* main_thread) {
  pthread_join(*(pthread_t*)main_thread, NULL);
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  printf("outlived\n");
  return NULL;
}

int main(void) {
  static pthread_t self;
  pthread_t thread;
  self = pthread_self();
  pthread_create(&thread, NULL, outlives, &self);
  pthread_exit(NULL);
}
