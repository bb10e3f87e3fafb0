// Dies as the first argument says, in a thread that holds a mutex, beside one that waits for it: by a
// real fault, by abort, or by a signal whose handler restores the default and raises it again.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asleep.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t held;
static int waiting;  // the thread that does, or is about to
static const char* how;

static void die_again(int number) {
  const char text[] = "handler\n";
  if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0) {
    abort();
  }
  signal(number, SIG_DFL);
  raise(number);
}

static void* dies(void* unused) {
  pthread_mutex_lock(&mutex);
  sem_post(&held);
  wait_until_asleep_in(SYS_futex, &waiting);
  if (strcmp(how, "abort") == 0) {
    abort();
  }
  if (strcmp(how, "handled") == 0) {
    signal(SIGSEGV, die_again);
  }
  *(volatile int*)unused = 1;
  return NULL;
}

static void* waits(void* unused) {
  sem_wait(&held);
  __atomic_store_n(&waiting, thread_id(), __ATOMIC_RELEASE);
  pthread_mutex_lock(&mutex);
  return unused;
}

int main(int argc, char** argv) {
  how = argc > 1 ? argv[1] : "";
  pthread_t thread[2];
  sem_init(&held, 0, 0);
  pthread_create(&thread[0], NULL, dies, NULL);
  pthread_create(&thread[1], NULL, waits, NULL);
  pthread_join(thread[0], NULL);
  return 0;
}
