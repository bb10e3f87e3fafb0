/* Says that it is running and computes until it is stopped. With an argument it does not let SIGTERM
 * end it. */
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
    if (round == 20) {
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
