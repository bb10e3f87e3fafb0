// Every call on condition variables, with every answer that it can give.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void say(const char* what, int result) {
  printf("%s: %s\n", what, strerror(result));
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int waiting;
static int go;

static void* waits(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  ++waiting;
  pthread_cond_signal(&arrived);
  while (!go) {
    pthread_cond_wait(&changed, &mutex);
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) {
    pthread_create(&threads[i], NULL, waits, NULL);
  }
  pthread_mutex_lock(&mutex);
  while (waiting < 3) {
    pthread_cond_wait(&arrived, &mutex);
  }
  go = 1;
  say("broadcast", pthread_cond_broadcast(&changed));
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < 3; ++i) {
    pthread_join(threads[i], NULL);
  }
  say("signal to nobody", pthread_cond_signal(&changed));
  struct timespec now;
  pthread_mutex_lock(&mutex);
  clock_gettime(CLOCK_REALTIME, &now);
  say("timedwait", pthread_cond_timedwait(&changed, &mutex, &now));
  clock_gettime(CLOCK_MONOTONIC, &now);
  say("clockwait", pthread_cond_clockwait(&changed, &mutex, CLOCK_MONOTONIC, &now));
  const struct timespec malformed = {0, -1};
  say("timedwait until never", pthread_cond_timedwait(&changed, &mutex, &malformed));
  say("clockwait on no clock", pthread_cond_clockwait(&changed, &mutex, 99, &now));
  pthread_mutex_unlock(&mutex);
  return 0;
}
