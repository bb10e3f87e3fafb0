// Starts children in the ways that forks.c does not: posix_spawn, system, popen, a shell's exec. They
// are to run as if nobody recorded.
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void* locks(void* mutex) {
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
  }
  return NULL;
}

int main(int argc, char** argv) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_t thread;
  if (argc > 1) {  // as a child
    pthread_create(&thread, NULL, locks, &mutex);
    pthread_join(thread, NULL);
    printf("child\n");
    return 21;
  }
  setvbuf(stdout, NULL, _IONBF, 0);
  pthread_create(&thread, NULL, locks, &mutex);
  char again[] = "again";
  char* arguments[] = {argv[0], again, NULL};
  pid_t child = 0;
  int status = 0;
  const int spawned = posix_spawn(&child, argv[0], NULL, NULL, arguments, environ);
  waitpid(child, &status, 0);
  printf("posix_spawn %d, status %d\n", spawned, WEXITSTATUS(status));
  printf("posix_spawn of nothing %d\n",
         posix_spawn(&child, "/nowhere", NULL, NULL, arguments, environ));
  printf("system %d\n", WEXITSTATUS(system("exit 3")));
  FILE* pipe = popen("echo piped", "r");
  char line[16] = {0};
  if (fgets(line, sizeof(line), pipe) != NULL) {
    printf("%s", line);
  }
  printf("pclose %d\n", pclose(pipe));
  pthread_join(thread, NULL);
  locks(&mutex);
  return 0;
}
