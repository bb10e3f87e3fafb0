// Three threads that count every recorded call that has returned, each where the first argument's file
// survives everything. Runs until it is killed.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { threads = 3, words_of_a_line = 8 };

static volatile unsigned long* counters;
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;

static void* count(void* own_counter) {
  volatile unsigned long* counter = own_counter;
  sem_t own;
  sem_init(&own, 0, 0);
  for (;;) {
    pthread_mutex_lock(&shared);
    ++*counter;
    pthread_mutex_unlock(&shared);
    ++*counter;
    sem_post(&own);
    ++*counter;
    sem_wait(&own);
    ++*counter;
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int file = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
  const size_t bytes = threads * words_of_a_line * sizeof(unsigned long);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) {
    return 2;
  }
  counters = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  pthread_t thread;
  for (int i = 0; i < threads; ++i) {
    pthread_create(&thread, NULL, count, (void*)(counters + i * words_of_a_line));
  }
  for (int i = 0; i < threads; ++i) {
    while (counters[i * words_of_a_line] == 0) {
      usleep(1000);
    }
  }
  printf("running\n");
  fflush(stdout);
  pthread_join(thread, NULL);
  return 0;
}
