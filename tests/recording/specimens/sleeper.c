/* Sleeps 50 ms four times outside every recorded call while another thread computes. */
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static void* compute(void* unused) {
  for (unsigned long i = 0; i < 400000000; ++i)
    sink += i;
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
