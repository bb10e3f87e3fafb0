// What a program can say of its threads: names, priorities, CPUs.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static sem_t ready;
static sem_t may_end;

static void* names_itself(void* unused) {
  (void)unused;
  char name[16] = {0};
  printf("prctl %d\n", prctl(PR_SET_NAME, "itself", 0, 0, 0));
  printf("setpriority %d\n", setpriority(PRIO_PROCESS, 0, 5));
  prctl(PR_GET_NAME, name, 0, 0, 0);
  printf("%s\n", name);
  cpu_set_t set;
  CPU_ZERO(&set);
  printf("syscall of sched_getaffinity %d",
         syscall(SYS_sched_getaffinity, 0, sizeof(set), &set) > 0);
  printf(" %d\n", CPU_COUNT(&set));
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  printf("syscall of sched_setaffinity %ld\n",
         syscall(SYS_sched_setaffinity, 0, sizeof(set), &set));
  sem_post(&ready);
  sem_wait(&may_end);
  return NULL;
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  sem_init(&ready, 0, 0);
  sem_init(&may_end, 0, 0);
  pthread_t thread;
  pthread_attr_t attributes;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  pthread_attr_init(&attributes);
  printf("pthread_attr_setaffinity_np %d\n",
         pthread_attr_setaffinity_np(&attributes, sizeof(set), &set));
  pthread_create(&thread, &attributes, names_itself, NULL);
  sem_wait(&ready);
  char name[16] = {0};
  printf("pthread_setname_np %d\n", pthread_setname_np(thread, "fifteen letters"));
  printf("pthread_getname_np %d\n", pthread_getname_np(thread, name, sizeof(name)));
  printf("%s\n", name);
  printf("pthread_setname_np of too much %d\n", pthread_setname_np(thread, "more than fifteen"));
  printf("pthread_setaffinity_np %d\n", pthread_setaffinity_np(thread, sizeof(set), &set));
  const struct sched_param parameters = {0};
  printf("pthread_setschedparam %d\n", pthread_setschedparam(thread, SCHED_OTHER, &parameters));
  printf("pthread_setschedparam of nonsense %d\n", pthread_setschedparam(thread, 77, &parameters));
  printf("pthread_setschedprio %d\n", pthread_setschedprio(thread, 0));
  sem_post(&may_end);
  pthread_join(thread, NULL);
  return 0;
}
