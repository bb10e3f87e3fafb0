// A library whose constructor starts a thread that locks and unlocks, and asks for the number of CPUs if the program is told to,
// from before the program's beginning until it ends.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static int is_over;
static int rounds;
static int asks;
static int answers;

static void* locks(void* unused) {
  while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
    if (asks) {
      answers |= 1 << (sysconf(_SC_NPROCESSORS_ONLN) > 0);
    }
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    __atomic_fetch_add(&rounds, 1, __ATOMIC_RELEASE);
    usleep(10);
  }
  return unused;
}

__attribute__((constructor)) static void start(int argc, char** argv) {
  asks = argc > 1 && strcmp(argv[1], "asks") == 0;
  pthread_create(&thread, NULL, locks, NULL);
  // So that it is at its calls, not at its beginning, when the next constructor runs.
  while (!asks && __atomic_load_n(&rounds, __ATOMIC_ACQUIRE) == 0) {
  }
}

void end_early_thread(void);
void end_early_thread(void) {
  // A whole round of its calls is after the program's beginning, however late on a busy machine the thread gets a CPU.
  const int before = __atomic_load_n(&rounds, __ATOMIC_ACQUIRE);
  while (__atomic_load_n(&rounds, __ATOMIC_ACQUIRE) - before < 2) {
    usleep(100);
  }
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  printf("answers %d\n", answers);
}
