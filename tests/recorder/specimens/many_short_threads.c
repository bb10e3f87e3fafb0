// 10,000 threads, one after the other: joined, detached and ended by pthread_exit in turn.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t ended;

static void* returns(void* unused) {
  sem_post(&ended);
  return unused;
}

static void* exits(void* unused) {
  sem_post(&ended);
  pthread_exit(unused);
}

int main(void) {
  sem_init(&ended, 0, 0);
  int made = 0;
  for (int i = 0; i < 10000; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, i % 2 == 0 ? returns : exits, NULL) == 0) {
      ++made;
    }
    sem_wait(&ended);
    if (i % 5 == 0) {
      pthread_detach(thread);
    } else {
      pthread_join(thread, NULL);
    }
  }
  printf("%d threads\n", made);
  return 0;
}
