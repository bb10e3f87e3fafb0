// Initializing once: with threads that wait for it, nested, and with a routine that throws.
#include <pthread.h>
#include <threads.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <stdexcept>

namespace {

pthread_once_t outer = PTHREAD_ONCE_INIT;
pthread_once_t inner = PTHREAD_ONCE_INIT;
once_flag of_c11 = ONCE_FLAG_INIT;
std::once_flag throwing;
int attempts = 0;

void* run_outer(void* /*unused*/) {
  pthread_once(&outer, [] {
    pthread_once(&inner, [] { std::puts("inner"); });
    usleep(50'000);
    std::puts("outer");
  });
  return nullptr;
}

void throw_at_first() {
  ++attempts;
  if (attempts < 3) {
    throw std::runtime_error("not yet");
  }
  std::puts("at last");
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  pthread_t threads[3];
  for (pthread_t& thread : threads) {
    pthread_create(&thread, nullptr, &run_outer, nullptr);
  }
  for (const pthread_t thread : threads) {
    pthread_join(thread, nullptr);
  }
  run_outer(nullptr);
  for (int i = 0; i < 2; ++i) {
    call_once(&of_c11, [] { std::puts("C11"); });
  }
  while (attempts < 3) {
    try {
      std::call_once(throwing, &throw_at_first);
    } catch (const std::runtime_error& error) {
      std::puts(error.what());
    }
  }
  std::call_once(throwing, &throw_at_first);
}
