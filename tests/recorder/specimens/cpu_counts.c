// Asks for the number of CPUs in every way, then for some of them.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

int main(void) {
  cpu_set_t set;
  printf("online %ld, configured %ld\n", sysconf(_SC_NPROCESSORS_ONLN),
         sysconf(_SC_NPROCESSORS_CONF));
  printf("get_nprocs %d, get_nprocs_conf %d\n", get_nprocs(), get_nprocs_conf());
  sched_getaffinity(0, sizeof(set), &set);
  printf("sched_getaffinity %d\n", CPU_COUNT(&set));
  pthread_getaffinity_np(pthread_self(), sizeof(set), &set);
  printf("pthread_getaffinity_np %d\n", CPU_COUNT(&set));
  printf("page size %d\n", sysconf(_SC_PAGESIZE) > 0);

  const int before = sched_getcpu();
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  printf("sched_setaffinity %d\n", sched_setaffinity(0, sizeof(set), &set));
  printf("pthread_setaffinity_np %d\n", pthread_setaffinity_np(pthread_self(), sizeof(set), &set));
  CPU_ZERO(&set);
  errno = 0;
  printf("sched_setaffinity of none %d, ", sched_setaffinity(0, sizeof(set), &set));
  printf("%s\n", strerror(errno));
  printf("pthread_setaffinity_np of none %d\n",
         pthread_setaffinity_np(pthread_self(), sizeof(set), &set));
  return before < 0;
}
