// C++20's ways to wait through longpole/sync.h.
#include <longpole/sync.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "asleep.h"

namespace {

int waiting[2];

void wait_for_both() {
  for (const int& thread : waiting) {
    wait_until_asleep_in(SYS_futex, &thread);
  }
}

}  // namespace

int main() {
  longpole::sync::counting_semaphore<8> semaphore(1);
  longpole::sync::latch latch(2);
  longpole::sync::barrier barrier(3);
  std::atomic<int> flag = 0;
  std::atomic<int> passed = 0;

  semaphore.acquire();
  std::printf("try_acquire %d\n", semaphore.try_acquire() ? 1 : 0);
  std::printf("try_acquire_for %d\n",
              semaphore.try_acquire_for(std::chrono::milliseconds(10)) ? 1 : 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      __atomic_store_n(&waiting[i], thread_id(), __ATOMIC_RELEASE);
      longpole::sync::wait(flag, 0);
      semaphore.acquire();
      latch.wait();
      barrier.arrive_and_wait();
      ++passed;
    });
  }
  wait_for_both();
  flag = 1;
  longpole::sync::notify_all(flag);
  wait_for_both();
  semaphore.release(2);
  wait_for_both();
  latch.count_down();
  latch.arrive_and_wait();
  barrier.arrive_and_wait();
  for (std::thread& thread : threads) {
    thread.join();
  }
  longpole::sync::notify_one(flag);
  longpole::sync::wait(flag, 0);
  std::printf("passed %d\n", passed.load());
}
