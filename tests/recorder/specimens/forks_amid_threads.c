// Forks while another thread creates and joins threads without end. Each child does so once, and must come to its end.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kChildren = 300, kPatience = 10 };

static int is_over;

static void* returns(void* argument) {
  return argument;
}

static int create_and_join(void) {
  pthread_t thread;
  return pthread_create(&thread, NULL, returns, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

static void* creates_and_joins(void* unused) {
  while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED) && create_and_join()) {
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  int ended = 0;
  pthread_create(&thread, NULL, creates_and_joins, NULL);
  for (int i = 0; i < kChildren && ended == i; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kPatience);
      _exit(create_and_join() ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    ended += status == 0;
  }
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  printf("%d children ended\n", ended);
  return 0;
}
