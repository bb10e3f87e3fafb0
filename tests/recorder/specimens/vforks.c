// Two threads that wait for each other through pipes, of whose ends children of vfork() close their own; each of these computes
// and calls before it becomes another program, or exits, or has a child in turn.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"

enum { kRounds = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static int reader;
static char* program;

static void* reads(void* unused) {
  __atomic_store_n(&reader, thread_id(), __ATOMIC_RELEASE);
  char byte = 0;
  for (int i = 0; i < kRounds; ++i) {
    printf("read %zd\n", read(ends[0], &byte, 1));
  }
  return unused;
}

static void compute(void) {
  struct timespec now;
  do {
    for (volatile int i = 0; i < 10000; ++i) {
    }
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (now.tv_nsec < 50000000);
}

static void become(const char* what) {
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, ends[0]);
  close(ends[0]);
  close(ends[1]);
  execl(program, program, what, (char*)NULL);
  _exit(1);
}

static void await(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  printf("%d: status %d\n", child > 0, WEXITSTATUS(status));
}

int main(int argc, char** argv) {
  if (argc > 1) {
    return argv[1][0] - '0';
  }
  setvbuf(stdout, NULL, _IONBF, 0);
  program = argv[0];
  if (pipe(ends) != 0) {
    return 1;
  }
  pthread_t thread;
  pthread_create(&thread, NULL, reads, NULL);
  for (int i = 0; i < kRounds; ++i) {
    wait_until_asleep_in(SYS_read, &reader);
    const pid_t child = vfork();
    if (child == 0) {
      compute();
      if (i == 1) {
        close(ends[1]);
        _exit(7);
      }
      if (i == 2 && vfork() == 0) {
        close(ends[0]);
        _exit(8);
      }
      become("5");
    }
    await(child);
    wait_until_asleep_in(SYS_read, &reader);
    if (write(ends[1], "x", 1) != 1) {
      return 1;
    }
  }
  pthread_join(thread, NULL);
  return 0;
}
