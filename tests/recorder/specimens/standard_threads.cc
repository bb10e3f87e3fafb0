// The C++ library's threads, whose pthread calls come from inside libstdc++.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace {

std::mutex mutex;
std::condition_variable condition;
int ready = 0;

void announce() {
  const std::lock_guard lock(mutex);
  ++ready;
  condition.notify_one();
}

__attribute__((noinline)) void start_two(std::vector<std::thread>& threads) {
  threads.emplace_back(announce);
  threads.emplace_back([] { announce(); });
}

__attribute__((noinline)) void join_all(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace

int main(int argc, char** /*argv*/) {
  if (argc > 1) {  // where the functions are, for those who look for them in the recording
    std::printf("%p %p\n", reinterpret_cast<void*>(&start_two), reinterpret_cast<void*>(&join_all));
    std::fflush(stdout);
  }
  std::vector<std::thread> threads;
  start_two(threads);
  {
    std::unique_lock lock(mutex);
    condition.wait(lock, [] { return ready == 2; });
  }
  join_all(threads);
  {
    const std::jthread stopped([](const std::stop_token& token) {
      while (!token.stop_requested()) {
        std::this_thread::yield();
      }
    });
  }
  std::unique_lock lock(mutex);
  const bool woken = condition.wait_for(lock, std::chrono::milliseconds(10), [] { return false; });
  std::printf("ready %d, woken %d\n", ready, woken);
  return 0;
}
