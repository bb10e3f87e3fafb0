// OpenMP: regions one after the other, inside each other and of different sizes, loops of unequal iterations,
// barriers, locks, sections in order, and tasks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ITERATIONS = 16 };

typedef struct {
  _Alignas(64) unsigned char bytes[64];
} Lock;
void omp_init_nest_lock(void*);
void omp_set_nest_lock(void*);
void omp_unset_nest_lock(void*);
int omp_test_lock(void*);
void omp_init_lock(void*);
void omp_unset_lock(void*);

__attribute__((noinline)) static double work(long steps) {
  double sum = 0;
  for (long i = 1; i <= steps; ++i)
    sum += 1.0 / (double)i;
  return sum;
}

// Later iterations are longer, and threads have neighbouring ones.
static double loop(void) {
  double sum = 0;
#pragma omp parallel num_threads(THREADS)
  {
    double mine = 0;
#pragma omp for schedule(static)
    for (long i = 0; i < ITERATIONS; ++i)
      mine += work((i + 1) * 100000);
#pragma omp critical
    sum += mine;
  }
  return sum;
}

static double locks(void) {
  static Lock nested;
  static Lock tried;
  double sum = 0;
  omp_init_nest_lock(&nested);
  omp_init_lock(&tried);
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
  for (int i = 0; i < 50; ++i) {
    omp_set_nest_lock(&nested);
    omp_set_nest_lock(&nested);
    sum += work(100);
    omp_unset_nest_lock(&nested);
    omp_unset_nest_lock(&nested);
    if (omp_test_lock(&tried))
      omp_unset_lock(&tried);
#pragma omp barrier
  }
  return sum;
}

static double ordered(void) {
  double sum = 0;
#pragma omp parallel for ordered schedule(static, 1) num_threads(THREADS)
  for (long i = 0; i < ITERATIONS; ++i) {
    const double mine = work(10000);
#pragma omp ordered
    sum += mine;
  }
  return sum;
}

// Teams of different sizes, some inside others.
static double nested(void) {
  double sum = 0;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(2 + round % 3) reduction(+ : sum)
    {
      sum += work(1000);
#pragma omp parallel num_threads(2) reduction(+ : sum)
      {
        sum += work(1000);
#pragma omp barrier
        sum += work(1000);
      }
#pragma omp barrier
    }
  }
  return sum;
}

static double tree(int depth) {
  if (depth == 0)
    return work(20000);
  double left = 0;
  double right = 0;
#pragma omp task shared(left)
  left = tree(depth - 1);
#pragma omp task shared(right)
  right = tree(depth - 1);
#pragma omp taskwait
  return left + right;
}

static double tasks(void) {
  double sum = 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
  {
    sum = tree(5);
    for (int i = 0; i < 32; ++i) {
#pragma omp task shared(sum)
      {
        const double mine = work(20000);
#pragma omp critical
        sum += mine;
      }
    }
  }
  return sum;
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    double (*run)(void);
  } ways[] = {
      {"loop", loop}, {"locks", locks}, {"ordered", ordered}, {"nested", nested}, {"tasks", tasks}};
  double sum = 0;
  for (int i = 0; i < 5; ++i)
    for (int a = 1; a < argc; ++a)
      if (strcmp(argv[a], ways[i].name) == 0)
        sum += ways[i].run();
  printf("%.3f\n", sum);
  return 0;
}
