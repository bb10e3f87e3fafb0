// Waits in each call that a signal interrupts whatever its handler asks for, while it is sent every signal that somebody else
// handles in this process. None of them may show.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "handled_signals.h"

int io_getevents(void* context, long least, long most, void* events, struct timespec* timeout);
int __ppoll_chk(struct pollfd* files, nfds_t count, const struct timespec* timeout,
                const sigset_t* signals, size_t room);
int __poll_chk(struct pollfd* files, nfds_t count, int timeout, size_t room);

enum { kNothing, kUnit, kMessage, kRoom };

struct message {
  long type;
  char text[64];
};

static const struct timespec while_disturbed = {.tv_nsec = 20000000};
static int waiter;
static int is_over;
static int needed;
static int queue;
static int semaphores;

static void say(const char* what, long result) {
  printf("%s: %s\n", what, result < 0 ? strerror(errno) : "ok");
}

static void need(int what) {
  __atomic_store_n(&needed, what, __ATOMIC_RELEASE);
}

static void* waits(void* unused) {
  struct epoll_event event;
  struct message message = {1, "text"};
  struct sembuf take = {.sem_op = -1};
  struct timespec timeout = while_disturbed;
  const int set = epoll_create1(0);
  __atomic_store_n(&waiter, gettid(), __ATOMIC_RELEASE);
  say("epoll_pwait2", epoll_pwait2(set, &event, 1, &while_disturbed, NULL));
  say("ppoll", __ppoll_chk(NULL, 0, &while_disturbed, NULL, 0));
  say("poll", __poll_chk(NULL, 0, 20, 0));
  say("semtimedop", semtimedop(semaphores, &take, 1, &while_disturbed));
  need(kUnit);
  say("semop", semop(semaphores, &take, 1));
  need(kMessage);
  say("msgrcv", msgrcv(queue, &message, sizeof message.text, 0, 0));
  need(kNothing);
  while (msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT) == 0) {
  }
  need(kRoom);
  say("msgsnd", msgsnd(queue, &message, sizeof message.text, 0));
  need(kNothing);
  unsigned long context = 0;
  char events[64];
  say("io_setup", syscall(SYS_io_setup, 1, &context));
  printf("io_getevents: %d\n", io_getevents((void*)context, 1, 1, events, &timeout));
  __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
  return unused;
}

static void pause_for(long nanoseconds) {
  const struct timespec time = {.tv_nsec = nanoseconds};
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
}

// Ends a call that waits for somebody.
static void help(void) {
  struct message message = {1, "text"};
  struct sembuf give = {.sem_op = 1};
  switch (__atomic_load_n(&needed, __ATOMIC_ACQUIRE)) {
    case kUnit:
      semop(semaphores, &give, 1);
      break;
    case kMessage:
      msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT);
      break;
    case kRoom:
      msgrcv(queue, &message, sizeof message.text, 0, IPC_NOWAIT);
      break;
    default:
      break;
  }
}

int main(void) {
  pthread_t thread;
  queue = msgget(IPC_PRIVATE, 0600);
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  pthread_create(&thread, NULL, waits, NULL);
  for (int round = 1; !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE); ++round) {
    for (int number = SIGRTMIN; number <= SIGRTMAX && waiter != 0; ++number) {
      if (is_handled(number)) {
        syscall(SYS_tgkill, getpid(), waiter, number);
      }
    }
    pause_for(1000000);
    if (round % 20 == 0) {
      help();
    }
  }
  pthread_join(thread, NULL);
  msgctl(queue, IPC_RMID, NULL);
  semctl(semaphores, 0, IPC_RMID);
  return 0;
}
