// Threads that return, call pthread_exit, are detached, are joined in every way.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void say(const char* what, int result) {
  printf("%s: %s\n", what, strerror(result));
}

static sem_t begin;
static sem_t detached_is_done;

static void* returns(void* argument) {
  return argument;
}

static void* exits(void* argument) {
  pthread_exit(argument);
  return NULL;
}

static void* waits(void* argument) {
  sem_wait(&begin);
  return argument;
}

static void* posts(void* unused) {
  (void)unused;
  sem_post(&detached_is_done);
  return NULL;
}

int main(void) {
  int value = 0;
  void* returned = NULL;
  pthread_t thread;
  sem_init(&begin, 0, 0);
  sem_init(&detached_is_done, 0, 0);

  say("create", pthread_create(&thread, NULL, returns, &value));
  say("join", pthread_join(thread, &returned));
  printf("returned %d\n", returned == &value);

  say("create", pthread_create(&thread, NULL, exits, &value));
  say("join", pthread_join(thread, &returned));
  printf("returned %d\n", returned == &value);

  say("create", pthread_create(&thread, NULL, waits, &value));
  say("tryjoin", pthread_tryjoin_np(thread, &returned));
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  say("timedjoin", pthread_timedjoin_np(thread, &returned, &deadline));
  sem_post(&begin);
  deadline.tv_sec += 60;
  say("clockjoin", pthread_clockjoin_np(thread, &returned, CLOCK_REALTIME, &deadline));

  say("create", pthread_create(&thread, NULL, posts, NULL));
  say("detach", pthread_detach(thread));
  sem_wait(&detached_is_done);
  say("join oneself", pthread_join(pthread_self(), NULL));

  pthread_attr_t attributes;
  cpu_set_t nowhere;
  memset(&nowhere, 0, sizeof(nowhere));
  CPU_SET(CPU_SETSIZE - 1, &nowhere);
  pthread_attr_init(&attributes);
  pthread_attr_setaffinity_np(&attributes, sizeof(nowhere), &nowhere);
  say("create on no CPU", pthread_create(&thread, &attributes, returns, &value));
  say("create on no CPU", pthread_create(&thread, &attributes, returns, &value));
  say("create", pthread_create(&thread, NULL, returns, &value));
  say("join", pthread_join(thread, NULL));
  return 0;
}
