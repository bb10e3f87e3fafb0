/* Looks every 4 ms, under a lock, whether two threads that compute are done. */
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int running = 2;
static volatile unsigned long sink;

static void* compute(void* unused) {
  /* Each round needs the one before: no processor is through at once. */
  unsigned long x = 1;
  for (unsigned long i = 0; i < 50000000; ++i)
    x = x * 6364136223846793005ul + 1442695040888963407ul;
  sink = x;
  pthread_mutex_lock(&lock);
  --running;
  pthread_mutex_unlock(&lock);
  return unused;
}

static int are_done(void) {
  pthread_mutex_lock(&lock);
  const int done = running == 0;
  pthread_mutex_unlock(&lock);
  return done;
}

int main(void) {
  const struct timespec interval = {0, 4000000};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, compute, NULL);
  while (!are_done())
    nanosleep(&interval, NULL);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
}
