// Starts processes of every kind, as the first argument says. Each that works does so with a thread of its own, which
// locks thirty times: few enough records for its chunk to be used again.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* lock_thirty_times(void* unused) {
  for (int i = 0; i < 30; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void work(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, lock_thirty_times, NULL);
  pthread_join(thread, NULL);
}

static void compute(void) {
  for (volatile int i = 0; i < 3000000; ++i) {
  }
}

static void await(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    printf("signal %d\n", WTERMSIG(status));
  } else {
    printf("status %d\n", WEXITSTATUS(status));
  }
  fflush(stdout);
}

static void spawn(const char* program, char* const* environment) {
  char name[4096];
  strncpy(name, program, sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  char argument[] = "work";
  char* arguments[] = {name, argument, NULL};
  pid_t child = 0;
  printf("spawned %d\n", posix_spawn(&child, program, NULL, NULL, arguments, environment));
  await(child);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "work";
  char* const nothing[] = {NULL};
  if (strcmp(what, "work") == 0) {
    work();
    return 5;
  }
  work();
  if (strcmp(what, "forked") == 0) {  // and their children
    for (int i = 0; i < atoi(argv[2]); ++i) {
      const pid_t child = fork();
      if (child == 0) {
        work();
        if (i == 0) {
          const pid_t grandchild = fork();
          if (grandchild == 0) {
            work();
            _exit(7);
          }
          await(grandchild);
        }
        if (i % 2 == 0) {
          _exit(i % 100);
        }
        return i % 100;
      }
      await(child);
    }
  } else if (strcmp(what, "quiet") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      compute();
      _exit(3);
    }
    await(child);
  } else if (strcmp(what, "killed") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      work();
      compute();
      raise(SIGKILL);
    }
    await(child);
  } else if (strcmp(what, "spawned") == 0) {
    spawn(argv[2], environ);
  } else if (strcmp(what, "bare") == 0) {  // without the environment that has the recorder
    spawn(argv[2], nothing);
  } else if (strcmp(what, "vforked") == 0) {
    const pid_t child = vfork();
    if (child == 0) {
      execl("/nowhere", "nowhere", (char*)NULL);
      execl(argv[2], argv[2], "work", (char*)NULL);
      _exit(1);
    }
    await(child);
  } else if (strcmp(what, "replaced") == 0) {
    char* const nowhere[] = {argv[0], NULL};
    execvp("no-such-program", nowhere);
    for (int i = 0; i < 20; ++i) {
      compute();
    }
    execle(argv[0], argv[0], "work", (char*)NULL, environ);
  } else if (strcmp(what, "outlives") == 0) {
    int ends[2];
    if (pipe(ends) == 0 && fork() == 0) {
      work();
      close(ends[0]);
      close(ends[1]);
      close(STDOUT_FILENO);
      close(STDERR_FILENO);
      sleep(5);
      return 0;
    }
    char byte;
    close(ends[1]);
    printf("%zd\n", read(ends[0], &byte, 1));
  }
  return 0;
}
