// Locks a few times beside a thread that was there before it began.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

void end_early_thread(void);

int main(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(&mutex);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    pthread_mutex_unlock(&mutex);
  }
  end_early_thread();
  return 0;
}
