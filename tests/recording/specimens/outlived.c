// A thread outlives main, which is nice to it and so has had far less of the CPU when it ends: as the
// argument says, by "return", "exit" or "pthread_exit"; then the thread ends the program when it is done.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static long cpu_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Starting the program may have taken the main thread ten milliseconds already, where page faults are slow.
static void compute_for(long ms) {
  const long end = cpu_ms() + ms;
  while (cpu_ms() < end) {
    for (volatile int i = 0; i < 20000; ++i) {
    }
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

static void* outlives(void* ms) {
  compute_for(*(long*)ms);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  static long ms = 100000;
  if (strcmp(argv[1], "pthread_exit") == 0) {
    ms = 100;
  }
  pthread_t thread;
  pthread_create(&thread, NULL, outlives, &ms);
  setpriority(PRIO_PROCESS, 0, 15);  // on Linux, of the calling thread
  compute_for(10);
  if (strcmp(argv[1], "exit") == 0) {
    exit(0);
  }
  if (strcmp(argv[1], "pthread_exit") == 0) {
    pthread_exit(NULL);
  }
  return 0;
}
