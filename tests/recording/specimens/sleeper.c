/* Sleeps 50 ms four times outside every recorded call while another thread computes. */
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static void* compute(void* unused) {
  /* Each round needs the one before: no processor is through before the sleeps are. */
  unsigned long x = 1;
  for (unsigned long i = 0; i < 400000000; ++i)
    x = x * 6364136223846793005ul + 1442695040888963407ul;
  sink = x;
  return unused;
}

static void sleep_unseen(long nanoseconds) {
  const struct timespec time = {0, nanoseconds};
#if defined(__x86_64__)
  long result = SYS_nanosleep;
  __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(0L) : "rcx", "r11", "memory");
#else
  syscall(SYS_nanosleep, &time, NULL);
#endif
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, compute, NULL);
  for (int i = 0; i < 4; ++i)
    sleep_unseen(50000000);
  pthread_join(thread, NULL);
}
