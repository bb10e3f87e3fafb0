// Waiting until another thread of this process sleeps in a system call: for a state, not for a time, so that
// a specimen does the same on a busy machine. By system calls that no recorder looks at.
#ifndef SPECIMENS_ASLEEP_H
#define SPECIMENS_ASLEEP_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int thread_id(void) {
  return gettid();
}

// One line of a file of /proc about the thread; empty where it cannot be read.
static inline void read_about_thread(int thread, const char* what, char* line, size_t room) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, what);
  line[0] = '\0';
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) {
    return;
  }
  const long bytes = syscall(SYS_read, file, line, room - 1);
  line[bytes > 0 ? bytes : 0] = '\0';
  syscall(SYS_close, file);
}

// `thread` is 0 until the thread has said which one it is.
static inline void wait_until_asleep_in(long system_call, const int* thread) {
  const int errno_before = errno;
  for (;; syscall(SYS_sched_yield)) {
    const int id = __atomic_load_n(thread, __ATOMIC_ACQUIRE);
    if (id == 0) {
      continue;
    }
    char line[512];
    read_about_thread(id, "stat", line, sizeof line);
    const char* state = strrchr(line, ')');
    if (state == NULL || strncmp(state, ") S", 3) != 0) {
      continue;
    }
    read_about_thread(id, "syscall", line, sizeof line);
    if (strtol(line, NULL, 10) == system_call) {
      break;
    }
  }
  errno = errno_before;
}

static inline void wait_until_gone(int thread) {
  const int errno_before = errno;
  char line[512];
  do {
    syscall(SYS_sched_yield);
    read_about_thread(thread, "stat", line, sizeof line);
  } while (line[0] != '\0');
  errno = errno_before;
}

#endif
