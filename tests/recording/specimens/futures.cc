// Four threads that each compute, keep a promise and compute on; main waits for one after the other.
#include <array>
#include <future>
#include <thread>
#include <vector>

#include "compute.h"

int main() {
  std::array<std::promise<int>, 4> promises;
  std::vector<std::thread> threads;
  for (std::promise<int>& promise : promises)
    threads.emplace_back([&promise] {
      compute(30'000'000);
      promise.set_value(1);
      compute(30'000'000);
    });
  int kept = 0;
  for (std::promise<int>& promise : promises)
    kept += promise.get_future().get();
  for (std::thread& thread : threads)
    thread.join();
  return kept - 4;
}
