// Every semaphore call, with every answer that it can give.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"

static void say(const char* what, int result) {
  printf("%s: %d, errno %d\n", what, result, errno);
  errno = 77;
}

static sem_t semaphore;

static int waiting;

static void* posts_later(void* unused) {
  (void)unused;
  wait_until_asleep_in(SYS_futex, &waiting);
  sem_post(&semaphore);
  return NULL;
}

int main(void) {
  struct timespec now;
  setvbuf(stdout, NULL, _IONBF, 0);
  errno = 77;
  say("init", sem_init(&semaphore, 0, 2));
  say("wait", sem_wait(&semaphore));
  say("trywait", sem_trywait(&semaphore));
  say("trywait of none", sem_trywait(&semaphore));
  clock_gettime(CLOCK_REALTIME, &now);
  say("timedwait of none", sem_timedwait(&semaphore, &now));
  clock_gettime(CLOCK_MONOTONIC, &now);
  say("clockwait of none", sem_clockwait(&semaphore, CLOCK_MONOTONIC, &now));
  say("post", sem_post(&semaphore));
  const struct timespec malformed = {0, -1};
  say("timedwait until never", sem_timedwait(&semaphore, &malformed));
  say("clockwait on no clock", sem_clockwait(&semaphore, 99, &now));
  say("timedwait", sem_timedwait(&semaphore, &now));

  pthread_t thread;
  pthread_create(&thread, NULL, posts_later, NULL);
  __atomic_store_n(&waiting, thread_id(), __ATOMIC_RELEASE);
  say("wait for a post", sem_wait(&semaphore));
  pthread_join(thread, NULL);

  sem_t full;
  say("init too high", sem_init(&full, 0, (unsigned)SEM_VALUE_MAX + 1));
  say("init high", sem_init(&full, 0, SEM_VALUE_MAX));
  say("post of a full one", sem_post(&full));

  char name[64];
  snprintf(name, sizeof(name), "/longpole-specimen-%d", (int)getpid());
  sem_t* named = sem_open(name, O_CREAT | O_EXCL, 0600, 5);
  say("open", named == SEM_FAILED);
  say("open again", sem_open(name, 0) != named);
  say("unlink", sem_unlink(name));
  say("wait on a named one", sem_wait(named));
  say("open none", sem_open(name, 0) != SEM_FAILED);
  return 0;
}
