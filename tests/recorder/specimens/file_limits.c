// Allows itself files of 512 bytes, forks, starts a program, and becomes another.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void* returns(void* argument) {
  return argument;
}

static void work(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, returns, NULL);
  pthread_join(thread, NULL);
}

static void await(const char* what, pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  printf("%s: status %d, signal %d\n", what, WEXITSTATUS(status),
         WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  fflush(stdout);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    work();
    return 3;
  }
  const struct rlimit small = {512, 512};
  work();
  setrlimit(RLIMIT_FSIZE, &small);
  pid_t child = fork();
  if (child == 0) {
    work();
    _exit(4);
  }
  await("forked", child);
  child = fork();
  if (child == 0) {
    execl(argv[0], argv[0], "again", (char*)NULL);
    _exit(1);
  }
  await("started", child);
  execl(argv[0], argv[0], "again", (char*)NULL);
  return 1;
}
