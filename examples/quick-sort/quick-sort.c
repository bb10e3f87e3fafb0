// Parallel quick sort, as in Paper VI, section 4.1, Figure 9.
//
// ParallelQuickSort divides its stretch in two, and gives each half to a new thread as long as the
// stretch is longer than a twentieth of the whole; below that, RecursiveQuickSort sorts both halves
// itself. The threads form an unbalanced tree: its inner nodes are ParallelQuickSort, its leaves
// RecursiveQuickSort.
//
// Usage: quick-sort [NUMBERS]
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct stretch {
  ptrdiff_t left;
  ptrdiff_t right;
};

static uint32_t* data;
static ptrdiff_t longest_leaf;

static void fail(const char* what, int error) {
  errno = error;
  perror(what);
  exit(1);
}

static void RecursiveQuickSort(ptrdiff_t left, ptrdiff_t right) {
  if (left >= right)
    return;
  const uint32_t pivot = data[left + (right - left) / 2];
  ptrdiff_t i = left;
  ptrdiff_t j = right;
  while (i <= j) {
    while (data[i] < pivot)
      i++;
    while (data[j] > pivot)
      j--;
    if (i <= j) {
      const uint32_t number = data[i];
      data[i++] = data[j];
      data[j--] = number;
    }
  }
  RecursiveQuickSort(left, j);
  RecursiveQuickSort(i, right);
}

// The dividing is written out here and above, so that each function has its own part of the time.
static void* ParallelQuickSort(void* argument) {
  const struct stretch* stretch = argument;
  const uint32_t pivot = data[stretch->left + (stretch->right - stretch->left) / 2];
  ptrdiff_t i = stretch->left;
  ptrdiff_t j = stretch->right;
  while (i <= j) {
    while (data[i] < pivot)
      i++;
    while (data[j] > pivot)
      j--;
    if (i <= j) {
      const uint32_t number = data[i];
      data[i++] = data[j];
      data[j--] = number;
    }
  }
  struct stretch halves[2] = {{stretch->left, j}, {i, stretch->right}};
  if (stretch->right - stretch->left > longest_leaf) {
    pthread_t sorters[2];
    for (int half = 0; half < 2; half++) {
      const int error = pthread_create(&sorters[half], NULL, ParallelQuickSort, &halves[half]);
      if (error != 0)
        fail("starting a thread", error);
    }
    pthread_join(sorters[0], NULL);
    pthread_join(sorters[1], NULL);
  } else {
    RecursiveQuickSort(halves[0].left, halves[0].right);
    RecursiveQuickSort(halves[1].left, halves[1].right);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const ptrdiff_t numbers = argc > 1 ? strtol(argv[1], NULL, 10) : 12000000;
  if (argc > 2 || numbers < 1 || numbers > 1000000000) {
    fprintf(stderr, "usage: quick-sort [NUMBERS]\n");
    return 2;
  }
  data = malloc((size_t)numbers * sizeof *data);
  if (data == NULL)
    fail("allocating the numbers", errno);
  longest_leaf = numbers / 20;
  uint64_t random = 2001;
  uint64_t sum = 0;
  for (ptrdiff_t i = 0; i < numbers; i++) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    data[i] = (uint32_t)(random >> 32);
    sum += data[i];
  }

  struct stretch all = {0, numbers - 1};
  pthread_t sorter;
  const int error = pthread_create(&sorter, NULL, ParallelQuickSort, &all);
  if (error != 0)
    fail("starting a thread", error);
  pthread_join(sorter, NULL);

  bool sorted = true;
  for (ptrdiff_t i = 0; i < numbers; i++) {
    sorted = sorted && (i == 0 || data[i - 1] <= data[i]);
    sum -= data[i];
  }
  if (!sorted || sum != 0) {
    fprintf(stderr, "quick-sort: the numbers are not sorted\n");
    return 1;
  }
  printf("sorted %td numbers, the middle one is %u\n", numbers, data[numbers / 2]);
  free(data);
  return 0;
}
