// Says when its functions are entered and left, and leaves them in every way: by return, by longjmp, by
// an exception, inlined, too deep. Spends its time in `work` and `twice`.
#include <pthread.h>

#include <csetjmp>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile double sink;
static std::jmp_buf target;

__attribute__((noinline)) static void work(int times) {
  double x = 1;
  for (int i = 0; i < times * 1000; ++i)
    x = x * 1.0000001 + 1e-9;
  sink = x;
}

static inline void inlined() {
  sink = sink + 1;
}

// As much by itself as in `work`, in turns, so that a slow moment of the machine hits both.
__attribute__((noinline)) static void twice() {
  for (int i = 0; i < 20; ++i) {
    work(200);
    inlined();
    double x = sink;
    for (int k = 0; k < 200'000; ++k)
      x = x * 1.0000001 + 1e-9;
    sink = x;
  }
}

__attribute__((noinline)) static int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static void jump(int levels) {
  if (levels == 0)
    std::longjmp(target, 1);
  jump(levels - 1);
  sink = levels;
}

__attribute__((noinline)) static void fail(int levels) {
  if (levels == 0)
    throw levels;
  fail(levels - 1);
  sink = levels;
}

__attribute__((noinline)) static void descend(int levels) {
  if (levels > 0)
    descend(levels - 1);
  sink = levels;
}

static void* worker(void* argument) {
  for (int i = 0; i < 3; ++i) {
    pthread_mutex_lock(&lock);
    twice();
    pthread_mutex_unlock(&lock);
  }
  return argument;
}

int main() {
  pthread_t threads[2];
  for (pthread_t& thread : threads)
    pthread_create(&thread, nullptr, worker, nullptr);
  sink = fibonacci(15);
  for (int i = 0; i < 100; ++i) {
    if (setjmp(target) == 0)
      jump(3);
    try {
      fail(3);
    } catch (int) {
    }
  }
  descend(200);
  twice();
  for (const pthread_t thread : threads)
    pthread_join(thread, nullptr);
}
