// Ends in the way that the first argument names, in the middle of the work of two threads. The second
// names a file in which the work is counted where it survives everything.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long* counter;

static void* works(void* unused) {
  (void)unused;
  for (;;) {
    pthread_mutex_lock(&mutex);
    ++*counter;
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  const int file = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, sizeof(*counter)) != 0) {
    return 2;
  }
  counter = mmap(NULL, sizeof(*counter), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, works, NULL);
  pthread_create(&thread, NULL, works, NULL);
  while (*counter < 50000) {
    sched_yield();
  }
  if (strcmp(argv[1], "_exit") == 0) {
    _exit(7);
  }
  if (strcmp(argv[1], "exit") == 0) {
    exit(8);
  }
  if (strcmp(argv[1], "abort") == 0) {
    abort();
  }
  if (strcmp(argv[1], "fault") == 0) {
    raise(SIGSEGV);
  }
  if (strcmp(argv[1], "kill") == 0) {
    kill(getpid(), SIGKILL);
  }
  return 0;
}
