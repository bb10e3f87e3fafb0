// Takes real-time signals while one thread sleeps in a read and another spends its time in the kernel. The one that sleeps
// gets each signal at once, and both get nothing else. A few signals are left to whoever wants them.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"

enum { kLeft = 3, kMuch = 16 << 20 };

static int ends[2];
static int reader;
static int interrupted;
static int is_over;
static volatile int handled[65];
static volatile int unwanted;
static char much[kMuch];

static void on_signal(int signal, siginfo_t* info, void* context) {
  (void)context;
  if (info->si_code == SI_TKILL && thread_id() == reader) {
    __atomic_add_fetch(&handled[signal], 1, __ATOMIC_RELEASE);
  } else {
    __atomic_add_fetch(&unwanted, 1, __ATOMIC_RELAXED);
  }
}

static int blocked(void) {
  unsigned long signals = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &signals, sizeof signals);
  return __builtin_popcountl(signals);
}

static void* sleeps(void* unused) {
  char byte = 0;
  __atomic_store_n(&reader, thread_id(), __ATOMIC_RELEASE);
  while (read(ends[0], &byte, 1) != 1) {
    interrupted += errno == EINTR;
  }
  printf("%d blocked where it slept\n", blocked());
  return unused;
}

static void* reads_much(void* unused) {
  const int zeros = open("/dev/zero", O_RDONLY);
  while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
    if (read(zeros, much, sizeof much) != sizeof much) {
      puts("read less");
    }
  }
  close(zeros);
  return unused;
}

int main(void) {
  pthread_t sleeper;
  pthread_t busy;
  int lost = 0;
  int expected = 0;
  if (pipe(ends) != 0) {
    return 1;
  }
  pthread_create(&sleeper, NULL, sleeps, NULL);
  pthread_create(&busy, NULL, reads_much, NULL);
  for (int number = SIGRTMIN; number <= SIGRTMAX - kLeft; ++number) {
    wait_until_asleep_in(SYS_read, &reader);
    const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    struct sigaction previous;
    sigaction(number, &action, &previous);
    if (previous.sa_handler != SIG_DFL) {
      printf("%d was taken\n", number);
    }
    wait_until_asleep_in(SYS_read, &reader);
    pthread_kill(sleeper, number);
    ++expected;
    const struct timespec shortly = {.tv_nsec = 1000000};
    for (int i = 0; i < 1000 && !__atomic_load_n(&handled[number], __ATOMIC_ACQUIRE); ++i) {
      nanosleep(&shortly, NULL);
    }
    lost += handled[number] != 1;
  }
  __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
  pthread_join(busy, NULL);
  if (write(ends[1], "x", 1) != 1) {
    return 1;
  }
  pthread_join(sleeper, NULL);
  printf("%d lost, %d unwanted, %s\n", lost, unwanted,
         interrupted < expected ? "not always interrupted" : "interrupted each time");
  return 0;
}
