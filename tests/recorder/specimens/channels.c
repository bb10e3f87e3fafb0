// Threads that wait for each other through pipes, pairs of sockets and event counters, one way and the
// other; read by their number of bytes or after a poll.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"

enum { kMuch = 200000 };

static int waiting;  // the thread that does, or is about to
static int pipe_ends[2];
static int wire[2];
static int counter;
static char much[kMuch];
static char taken[kMuch];

#ifdef SYS_poll
static const long call_of_poll = SYS_poll;
#else
static const long call_of_poll = SYS_ppoll;
#endif

static void begin_to_wait(void) {
  __atomic_store_n(&waiting, thread_id(), __ATOMIC_RELEASE);
}

static void* reads_from_pipe(void* unused) {
  char text[8] = {0};
  begin_to_wait();
  printf("pipe: %zd %s\n", read(pipe_ends[0], text, 5), text);
  return unused;
}

static void* reads_to_the_end(void* unused) {
  char text[8] = {0};
  begin_to_wait();
  printf("end: %zd\n", read(pipe_ends[0], text, sizeof text));
  return unused;
}

static void* reads_from_socket(void* unused) {
  char text[8] = {0};
  begin_to_wait();
  printf("socket: %zd %s\n", recv(wire[0], text, sizeof text, 0), text);
  return unused;
}

static void* reads_counter(void* unused) {
  uint64_t value = 0;
  begin_to_wait();
  printf("counter: %zd %d\n", read(counter, &value, sizeof value), (int)value);
  return unused;
}

static void* polls_pipe(void* unused) {
  char text[8] = {0};
  struct pollfd file = {.fd = pipe_ends[0], .events = POLLIN};
  begin_to_wait();
  printf("poll: %d", poll(&file, 1, -1));
  printf(" %zd %s\n", read(pipe_ends[0], text, sizeof text), text);
  return unused;
}

static void* writes_much(void* unused) {
  begin_to_wait();
  printf("much: %zd\n", write(pipe_ends[1], much, sizeof much));
  return unused;
}

static pthread_t start(void* (*function)(void*), long system_call) {
  pthread_t thread;
  __atomic_store_n(&waiting, 0, __ATOMIC_RELEASE);
  pthread_create(&thread, NULL, function, NULL);
  wait_until_asleep_in(system_call, &waiting);
  return thread;
}

static void must(int holds) {
  if (!holds) {
    abort();
  }
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  must(pipe(pipe_ends) == 0);
  must(socketpair(AF_UNIX, SOCK_STREAM, 0, wire) == 0);
  counter = eventfd(0, 0);

  pthread_t thread = start(reads_from_pipe, SYS_read);
  must(write(pipe_ends[1], "hello", 5) == 5);
  pthread_join(thread, NULL);
  thread = start(reads_from_socket, SYS_recvfrom);
  const int copy = dup(wire[1]);
  must(send(copy, "wired", 5, 0) == 5);
  close(copy);
  pthread_join(thread, NULL);
  thread = start(reads_counter, SYS_read);
  const uint64_t one = 1;
  must(write(counter, &one, sizeof one) == sizeof one);
  pthread_join(thread, NULL);
  thread = start(polls_pipe, call_of_poll);
  must(write(pipe_ends[1], "again", 5) == 5);
  pthread_join(thread, NULL);
  thread = start(writes_much, SYS_write);
  // Thread clocks tell only long waits from computing.
  syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 20000000}, NULL);
  size_t rest = sizeof much;
  while (rest > 0) {
    const ssize_t bytes = read(pipe_ends[0], taken, rest);
    must(bytes > 0);
    rest -= (size_t)bytes;
  }
  pthread_join(thread, NULL);
  must(dup2(pipe_ends[0], wire[0]) == wire[0]);
  must(dup3(pipe_ends[1], wire[1], 0) == wire[1]);
  must(write(wire[1], "x", 1) == 1);
  char text[2] = {0};
  must(read(wire[0], text, 1) == 1);
  printf("myself: %s\n", text);
  must(pipe2(pipe_ends, O_CLOEXEC) == 0);
  const int last = fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, 40);
  must(close(pipe_ends[1]) == 0);
  thread = start(reads_to_the_end, SYS_read);
  must(close(last) == 0);
  pthread_join(thread, NULL);
  return 0;
}
