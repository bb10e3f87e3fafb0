/* A program to record: two threads that compute, one of them twice as long, and then what the
 * argument says: "fail" exits with status 3, "crash" aborts, "wait" says so and waits for the end, "yield"
 * yields in a loop until the two are done. "take turns": the two do, and each spins until it is its turn.
 * "interrupts" says of two signals of Ctrl-C that they came, and then ends by itself. "alone" exits with
 * status 3 where another one is at it in the same directory. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 20 * 1000 * 1000, TURNS = 100, ROUNDS_A_TURN = 100 * 1000 };

static volatile uint64_t result[2];
static atomic_int done;

/* Each round needs the one before: no processor makes short work of it. */
__attribute__((noinline)) static void compute(int rounds, volatile uint64_t* number) {
  uint64_t last = *number;
  for (int i = 0; i < rounds; ++i)
    last = last * 6364136223846793005U + 1442695040888963407U;
  *number = last;
}

static void* long_thread(void* unused) {
  compute(2 * ROUNDS, &result[0]);
  ++done;
  return unused;
}

static void* short_thread(void* unused) {
  compute(ROUNDS, &result[1]);
  ++done;
  return unused;
}

static volatile int turn;

static void take_turns(int own) {
  for (int i = 0; i < TURNS; ++i) {
    while (turn != own) {
    }
    compute(ROUNDS_A_TURN, &result[own]);
    turn = 1 - own;
  }
}

static void* first_in_turn(void* unused) {
  take_turns(0);
  return unused;
}

static void* second_in_turn(void* unused) {
  take_turns(1);
  return unused;
}

static volatile sig_atomic_t interrupts;

static void on_interrupt(int number) {
  (void)number;
  ++interrupts;
}

static void tell_of_interrupts(void) {
  sigset_t none;
  sigemptyset(&none);
  for (int told = 0; told < 2;) {
    sigsuspend(&none);
    if (interrupts > told) {
      told = interrupts;
      printf("interrupt %d\n", told);
      fflush(stdout);
    }
  }
}

int main(int argc, char** argv) {
  const char* const then = argc > 1 ? argv[1] : "";
  if (strcmp(then, "interrupts") == 0) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGINT);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    signal(SIGINT, on_interrupt);
  }
  const int alone = strcmp(then, "alone") == 0;
  if (alone && mkdir("at-it", 0700) != 0)
    return 3;
  pthread_t threads[2];
  const int in_turn = strcmp(then, "take turns") == 0;
  pthread_create(&threads[0], NULL, in_turn ? first_in_turn : long_thread, NULL);
  pthread_create(&threads[1], NULL, in_turn ? second_in_turn : short_thread, NULL);
  while (strcmp(then, "yield") == 0 && done < 2)
    sched_yield();
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  if (alone)
    rmdir("at-it");
  printf("computed %s\n", then);
  fflush(stdout);
  if (strcmp(then, "fail") == 0)
    return 3;
  if (strcmp(then, "crash") == 0)
    abort();
  if (strcmp(then, "wait") == 0)
    sleep(3600);
  if (strcmp(then, "interrupts") == 0)
    tell_of_interrupts();
  return 0;
}
