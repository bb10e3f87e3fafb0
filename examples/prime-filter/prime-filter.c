// The chain of prime filters of Paper VII, section 7.2.
//
//   generator ──2, 3, 4 …─▶ filter 2 ──3, 5, 7 …─▶ filter 3 ──5, 7, 11 …─▶ … ─▶ filter 397
//
// A filter is a thread with a prime number. It drops the numbers that its prime divides and hands
// on the others; where there is no next filter, the number is a prime, and becomes a new one.
// Neighbours share a place for one number, guarded by two semaphores. With numbers up to 397, the
// 78th prime, there are 79 threads, the generator among them.
//
// Usage: prime-filter [LARGEST [TESTS]]   TESTS: how often each test is repeated, as a division is
// cheap today
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { end_of_numbers = 0 };

struct filter {
  pthread_t thread;
  unsigned prime;
  unsigned number;  // handed over by the neighbour before
  sem_t empty;
  sem_t full;
  struct filter* next;
};

static long tests = 250000;

static void fail(const char* what, int error) {
  errno = error;
  perror(what);
  exit(1);
}

static void* filter(void* argument);

static struct filter* new_filter(unsigned prime) {
  struct filter* made = calloc(1, sizeof *made);
  if (made == NULL || sem_init(&made->empty, 0, 1) != 0 || sem_init(&made->full, 0, 0) != 0)
    fail("making a filter", errno);
  made->prime = prime;
  const int error = pthread_create(&made->thread, NULL, filter, made);
  if (error != 0)
    fail("starting a thread", error);
  return made;
}

static void hand_over(struct filter* to, unsigned number) {
  sem_wait(&to->empty);
  to->number = number;
  sem_post(&to->full);
}

static unsigned take(struct filter* self) {
  sem_wait(&self->full);
  const unsigned number = self->number;
  sem_post(&self->empty);
  return number;
}

static bool divides(unsigned prime, unsigned number) {
  unsigned rest = 0;
  for (long test = 0; test < tests; test++) {
    __asm__ volatile("" : "+r"(number));  // or the compiler divides only once
    rest |= number % prime;
  }
  return rest == 0;
}

static void* filter(void* argument) {
  struct filter* self = argument;
  for (unsigned number = take(self); number != end_of_numbers; number = take(self)) {
    if (divides(self->prime, number))
      continue;
    if (self->next == NULL)
      self->next = new_filter(number);
    else
      hand_over(self->next, number);
  }
  if (self->next != NULL)
    hand_over(self->next, end_of_numbers);
  return NULL;
}

int main(int argc, char** argv) {
  const long largest = argc > 1 ? strtol(argv[1], NULL, 10) : 397;
  if (argc > 2)
    tests = strtol(argv[2], NULL, 10);
  if (argc > 3 || largest < 2 || largest > 20000 || tests < 1) {
    fprintf(stderr, "usage: prime-filter [LARGEST [TESTS]]\n");
    return 2;
  }
  struct filter* first = new_filter(2);
  for (long number = 3; number <= largest; number++)
    hand_over(first, (unsigned)number);
  hand_over(first, end_of_numbers);

  int primes = 0;
  unsigned last = 0;
  while (first != NULL) {
    pthread_join(first->thread, NULL);
    struct filter* next = first->next;
    primes++;
    last = first->prime;
    sem_destroy(&first->empty);
    sem_destroy(&first->full);
    free(first);
    first = next;
  }
  printf("%d primes, the last one is %u\n", primes, last);
  return 0;
}
