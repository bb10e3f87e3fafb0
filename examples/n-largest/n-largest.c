// The n largest h(x) of N numbers x, as in Paper VI, section 4.2.
//
// h(x) = g(f(x)) with f(x) = |x + 2x²|, which is cheap, and g(x) = Σ e^√|x + i| for i from 0 to
// 671, which is not, but grows with its argument. So eight threads look for the n largest f(x),
// each in its share, and only those get g.
//
// Usage: n-largest [NUMBERS [LARGEST]]
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 8, terms = 672 };

static long numbers;  // N
static long largest;  // n

// A heap of the largest values of one thread: the smallest of them is at its root.
struct heap {
  double* values;
  long length;
};

static struct heap heaps[threads];

static void fail(const char* what, int error) {
  errno = error;
  perror(what);
  exit(1);
}

static void sift_down(struct heap* heap, double value) {
  long place = 0;
  for (long child = 1; child < heap->length; child = 2 * place + 1) {
    if (child + 1 < heap->length && heap->values[child + 1] < heap->values[child])
      child++;
    if (heap->values[child] >= value)
      break;
    heap->values[place] = heap->values[child];
    place = child;
  }
  heap->values[place] = value;
}

static void keep(struct heap* heap, double value) {
  if (heap->length == largest) {
    sift_down(heap, value);
    return;
  }
  long place = heap->length++;
  while (place > 0 && heap->values[(place - 1) / 2] > value) {
    heap->values[place] = heap->values[(place - 1) / 2];
    place = (place - 1) / 2;
  }
  heap->values[place] = value;
}

// The numbers of all threads together are one sequence: -100 … 100 in steps that a Weyl sequence
// makes.
static void* f(void* argument) {
  struct heap* heap = argument;
  const long thread = heap - heaps;
  const long first = numbers * thread / threads;
  const long last = numbers * (thread + 1) / threads;
  for (long i = first; i < last; i++) {
    const uint64_t position = (uint64_t)i * 0x9e3779b97f4a7c15U;
    const double x = (double)(int64_t)position * (100.0 / 9223372036854775808.0);
    const double value = fabs(x + 2 * x * x);
    if (heap->length < largest || value > heap->values[0])
      keep(heap, value);
  }
  return NULL;
}

// e^x is 2^k times the series of e^r with |r| ≤ ln(2)/2, exact to ten digits: written out in place of
// the library's exp, so that the time is spent, and shown, in g.
static double g(double x) {
  double sum = 0;
  for (int i = 0; i < terms; i++) {
    const double exponent = sqrt(fabs(x + i));
    const int64_t k = (int64_t)(exponent * 1.4426950408889634 + 0.5);
    const double r = exponent - (double)k * 0.6931471805599453;
    double series = 1;
    for (int n = 9; n > 0; n--)
      series = 1 + series * r / n;
    const uint64_t bits = (uint64_t)(k + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    sum += power * series;
  }
  return sum;
}

static int ascending(const void* left, const void* right) {
  const double l = *(const double*)left;
  const double r = *(const double*)right;
  return (l > r) - (l < r);
}

int main(int argc, char** argv) {
  numbers = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000000;
  largest = argc > 2 ? strtol(argv[2], NULL, 10) : 20000;
  if (argc > 3 || largest < 1 || largest > 1000000 || numbers / threads < largest) {
    fprintf(stderr,
            "usage: n-largest [NUMBERS [LARGEST]], with at least %d times as many numbers\n",
            threads);
    return 2;
  }
  pthread_t searchers[threads];
  for (int i = 0; i < threads; i++) {
    heaps[i].values = malloc((size_t)largest * sizeof *heaps[i].values);
    if (heaps[i].values == NULL)
      fail("allocating", errno);
    const int error = pthread_create(&searchers[i], NULL, f, &heaps[i]);
    if (error != 0)
      fail("starting a thread", error);
  }
  for (int i = 0; i < threads; i++)
    pthread_join(searchers[i], NULL);

  for (int i = 1; i < threads; i++) {
    for (long j = 0; j < largest; j++) {
      if (heaps[i].values[j] > heaps[0].values[0])
        keep(&heaps[0], heaps[i].values[j]);
    }
    free(heaps[i].values);
  }
  double* found = heaps[0].values;
  qsort(found, (size_t)largest, sizeof *found, ascending);
  bool grows = true;
  for (long i = 0; i < largest; i++) {
    found[i] = g(found[i]);
    grows = grows && (i == 0 || found[i - 1] <= found[i]);
  }
  if (!grows) {
    fprintf(stderr, "n-largest: g does not grow with its argument\n");
    return 1;
  }
  printf("the %ld largest h(x) of %ld: from %.6e to %.6e\n", largest, numbers, found[0],
         found[largest - 1]);
  free(found);
  return 0;
}
