/* Sleeps 50 ms four times outside every recorded call while another thread computes. */
#include <pthread.h>
#include <unistd.h>

static volatile unsigned long sink;

static void* compute(void* unused) {
  for (unsigned long i = 0; i < 400000000; ++i)
    sink += i;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, compute, NULL);
  for (int i = 0; i < 4; ++i)
    usleep(50000);
  pthread_join(thread, NULL);
}
