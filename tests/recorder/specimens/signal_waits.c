// Waiting for signals in every way, and sending them in every way.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "asleep.h"

#ifdef SYS_pause
static const long call_of_pause = SYS_pause;
#else
static const long call_of_pause = SYS_ppoll;
#endif

static int waiting;  // the thread that does, or is about to
static volatile sig_atomic_t handled;

static void on_signal(int signal) {
  handled = signal;
}

static void begin_to_wait(void) {
  __atomic_store_n(&waiting, thread_id(), __ATOMIC_RELEASE);
}

static void* waits_by_sigwait(void* set) {
  int number = 0;
  begin_to_wait();
  const int result = sigwait(set, &number);
  printf("sigwait: %s, %d\n", strerror(result), number);
  return NULL;
}

static void* waits_by_sigwaitinfo(void* set) {
  siginfo_t info;
  begin_to_wait();
  const int result = sigwaitinfo(set, &info);
  printf("sigwaitinfo: %d, value %d\n", result, info.si_value.sival_int);
  return NULL;
}

static void* waits_by_sigtimedwait(void* set) {
  const struct timespec long_time = {1000, 0};
  begin_to_wait();
  printf("sigtimedwait: %d\n", sigtimedwait(set, NULL, &long_time));
  return NULL;
}

static void* waits_by_sigsuspend(void* unused) {
  (void)unused;
  sigset_t others;
  sigfillset(&others);
  sigdelset(&others, SIGUSR2);
  begin_to_wait();
  const int result = sigsuspend(&others);
  printf("sigsuspend: %d, %s, handled %d\n", result, strerror(errno), handled);
  return NULL;
}

static void* waits_by_pause(void* unused) {
  (void)unused;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  begin_to_wait();
  const int result = pause();
  printf("pause: %d, %s, handled %d\n", result, strerror(errno), handled);
  return NULL;
}

static pthread_t start(void* (*function)(void*), sigset_t* set, long system_call) {
  pthread_t thread;
  __atomic_store_n(&waiting, 0, __ATOMIC_RELEASE);
  pthread_create(&thread, NULL, function, set);
  wait_until_asleep_in(system_call, &waiting);
  return thread;
}

static void finish(pthread_t thread, const char* sent_by, int result) {
  pthread_join(thread, NULL);
  printf("%s: %d\n", sent_by, result);
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR2, &action, NULL);
  const int real_time = SIGRTMIN + 1;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  sigaddset(&set, real_time);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  const union sigval value = {.sival_int = 42};

  pthread_t thread = start(waits_by_sigwait, &set, SYS_rt_sigtimedwait);
  printf("no signal: %s\n", strerror(pthread_kill(thread, 0)));
  int result = pthread_kill(thread, SIGUSR1);
  finish(thread, "pthread_kill", result);
  thread = start(waits_by_sigwait, &set, SYS_rt_sigtimedwait);
  result = kill(getpid(), SIGUSR1);
  finish(thread, "kill", result);
  thread = start(waits_by_sigwaitinfo, &set, SYS_rt_sigtimedwait);
  result = pthread_sigqueue(thread, real_time, value);
  finish(thread, "pthread_sigqueue", result);
  thread = start(waits_by_sigwaitinfo, &set, SYS_rt_sigtimedwait);
  result = sigqueue(getpid(), real_time, value);
  finish(thread, "sigqueue", result);
  thread = start(waits_by_sigtimedwait, &set, SYS_rt_sigtimedwait);
  result = tgkill(getpid(), waiting, SIGUSR1);
  finish(thread, "tgkill", result);
  thread = start(waits_by_sigsuspend, NULL, SYS_rt_sigsuspend);
  result = pthread_kill(thread, SIGUSR2);
  finish(thread, "to sigsuspend", result);
  thread = start(waits_by_pause, NULL, call_of_pause);
  result = pthread_kill(thread, SIGUSR2);
  finish(thread, "to pause", result);

  // Pending before somebody waits for it; from nobody; and to nobody.
  int number = 0;
  raise(SIGUSR1);
  sigwait(&set, &number);
  printf("raise: %d\n", number);
  const struct timespec moment = {0, 1000000};
  result = sigtimedwait(&set, NULL, &moment);
  printf("nothing came: %d, %s\n", result, strerror(errno));
  errno = 77;
  printf("kill of nobody: %d, %s\n", kill(getpid(), 99), strerror(errno));
  printf("pthread_kill with no signal: %s\n", strerror(pthread_kill(pthread_self(), 99)));
  return 0;
}
