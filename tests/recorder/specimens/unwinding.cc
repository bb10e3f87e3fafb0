// Leaves recorded calls and threads in every way but returning: exceptions, pthread_exit, longjmp out
// of a handler, cancellation. What has a destructor is destroyed each time.
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "asleep.h"

namespace {

int in_scope = 0;  // the thread that entered one last

struct Scope {
  explicit Scope(const char* scope) : name(scope) {
    __atomic_store_n(&in_scope, thread_id(), __ATOMIC_RELEASE);
  }
  ~Scope() { std::printf("left %s\n", name); }
  const char* name;
};

std::mutex mutex;
std::condition_variable condition;
sem_t semaphore;
sigjmp_buf before_wait;
volatile int cancellations_missed = 0;

void throws() {
  const Scope scope("a throwing function");
  const std::lock_guard lock(mutex);
  throw std::runtime_error("thrown");
}

void* exits(void* /*unused*/) {
  const Scope scope("an exiting thread");
  pthread_exit(nullptr);
}

void* waits_on_condition(void* /*unused*/) {
  const Scope scope("a wait on a condition");
  std::unique_lock lock(mutex);
  for (;;) {
    condition.wait(lock);
  }
}

void* waits_on_semaphore(void* /*unused*/) {
  const Scope scope("a wait on a semaphore");
  sem_wait(&semaphore);
  cancellations_missed = cancellations_missed + 1;  // to print would be a cancellation point
  return nullptr;
}

void* is_cancelled_beforehand(void* free_semaphore) {
  const Scope scope("a wait on a free semaphore");
  pthread_cancel(pthread_self());
  sem_wait(static_cast<sem_t*>(free_semaphore));
  cancellations_missed = cancellations_missed + 1;  // to print would be a cancellation point
  return nullptr;
}

void* waits_for_thread(void* thread) {
  const Scope scope("a join");
  pthread_join(*static_cast<pthread_t*>(thread), nullptr);
  return nullptr;
}

void cancel(const char* what, void* (*function)(void*), void* argument) {
  pthread_t thread;
  void* value = nullptr;
  in_scope = 0;
  pthread_create(&thread, nullptr, function, argument);
  if (function != &is_cancelled_beforehand) {
    wait_until_asleep_in(SYS_futex, &in_scope);
  }
  pthread_cancel(thread);
  pthread_join(thread, &value);
  std::printf("%s: cancelled %d\n", what, value == PTHREAD_CANCELED);
}

void jump(int /*signal*/) {
  siglongjmp(before_wait, 1);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  std::thread([] {
    try {
      throws();
    } catch (const std::exception& exception) {
      std::printf("%s\n", exception.what());
    }
  }).join();

  pthread_t thread;
  pthread_create(&thread, nullptr, exits, nullptr);
  pthread_join(thread, nullptr);

  sem_init(&semaphore, 0, 0);
  sem_t free_semaphore;
  sem_init(&free_semaphore, 0, 1);
  cancel("condition", waits_on_condition, nullptr);
  cancel("semaphore", waits_on_semaphore, nullptr);
  cancel("free semaphore", is_cancelled_beforehand, &free_semaphore);
  in_scope = 0;
  pthread_create(&thread, nullptr, waits_on_semaphore, nullptr);
  wait_until_asleep_in(SYS_futex, &in_scope);
  cancel("join", waits_for_thread, &thread);
  pthread_cancel(thread);
  pthread_join(thread, nullptr);

  struct sigaction action {};
  action.sa_handler = jump;
  sigaction(SIGALRM, &action, nullptr);
  if (sigsetjmp(before_wait, 1) == 0) {
    ualarm(20'000, 0);
    sem_wait(&semaphore);
  }
  const std::lock_guard lock(mutex);
  std::printf("jumped out, %d cancellations missed\n", cancellations_missed);
  return 0;
}
