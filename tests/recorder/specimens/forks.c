// Forks beside a working thread: by fork, by the bare system call, by vfork. The children do recorded
// things, which are not to be recorded.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t of_parent = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t of_child = PTHREAD_MUTEX_INITIALIZER;

static void* locks_a_thousand_times(void* mutex) {
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
  }
  return NULL;
}

static void be_a_child(int status) {
  pthread_t thread;
  locks_a_thousand_times(&of_child);
  pthread_create(&thread, NULL, locks_a_thousand_times, &of_child);
  pthread_join(thread, NULL);
  _exit(status);
}

static void await(const char* what, pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  printf("%s: %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  fflush(stdout);
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, locks_a_thousand_times, &of_parent);

  pid_t child = fork();
  if (child == 0) {
    be_a_child(11);
  }
  await("fork", child);

  child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    locks_a_thousand_times(&of_child);
    _exit(12);
  }
  await("clone", child);

  child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 13", (char*)NULL);
    _exit(1);
  }
  await("vfork", child);

  pthread_join(thread, NULL);
  locks_a_thousand_times(&of_parent);
  return 0;
}
