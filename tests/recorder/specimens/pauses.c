// Every call that gives up the CPU for a while.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  const struct timespec moment = {0, 10 * 1000 * 1000};
  const struct timespec nonsense = {0, -1};
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  ++deadline.tv_sec;
  errno = 77;
  printf("nanosleep %d\n", nanosleep(&moment, NULL));
  printf("clock_nanosleep %d\n", clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL));
  deadline.tv_sec -= 2;
  printf("clock_nanosleep until the past %d\n",
         clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL));
  printf("clock_nanosleep on no clock %d\n", clock_nanosleep(99, TIMER_ABSTIME, &deadline, NULL));
  printf("usleep %d\n", usleep(10 * 1000));
  printf("sleep %u\n", sleep(0));
  printf("thrd_sleep %d\n", thrd_sleep(&moment, NULL));
  printf("sched_yield %d\n", sched_yield());
  thrd_yield();
  printf("errno %d\n", errno);
  const int result = nanosleep(&nonsense, NULL);
  printf("nanosleep of nonsense %d, %s\n", result, strerror(errno));
  return 0;
}
