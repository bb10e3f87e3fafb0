/* Computes for a while, beside which the recorder's own beginning is little, says that it is running and goes on
 * until it is stopped. With an argument it does not let SIGTERM end it. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink;

static void* work(void* unused) {
  for (unsigned long round = 0;; ++round) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 1000000; ++i)
      sink += (unsigned long)i;
    pthread_mutex_unlock(&lock);
    if (round == 300) {
      puts("running");
      fflush(stdout);
    }
  }
  return unused;
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1)
    signal(SIGTERM, SIG_IGN);
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
}
