// Destructors of thread-local objects and of thread-specific data that use mutexes, the latter again
// and again.
#include <limits.h>
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

std::mutex mutex;
int locks = 0;
pthread_key_t key;

void lock_once() {
  const std::lock_guard lock(mutex);
  ++locks;
}

struct LocksAtEnd {
  ~LocksAtEnd() { lock_once(); }
  void touch() const {}
};
thread_local const LocksAtEnd at_end;

void lock_until_last_round(void* round) {
  lock_once();
  const auto reached = reinterpret_cast<std::uintptr_t>(round);
  if (reached + 1 < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(key, reinterpret_cast<void*>(reached + 1));
  }
}

}  // namespace

int main() {
  pthread_key_create(&key, &lock_until_last_round);
  for (int i = 0; i < 5; ++i) {
    std::thread([] {
      at_end.touch();
      pthread_setspecific(key, reinterpret_cast<void*>(std::uintptr_t{1}));
    }).join();
  }
  std::printf("%d locks\n", locks);
  return 0;
}
