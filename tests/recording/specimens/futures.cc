// Four threads that each compute, keep a promise and compute on; main waits for one after the other.
#include <array>
#include <future>
#include <thread>
#include <vector>

namespace {

volatile unsigned long sum = 0;

void compute() {
  unsigned long x = 0;
  for (unsigned long i = 0; i < 30'000'000; ++i)
    x = x * 31 + i;
  sum = x;
}

}  // namespace

int main() {
  std::array<std::promise<int>, 4> promises;
  std::vector<std::thread> threads;
  for (std::promise<int>& promise : promises)
    threads.emplace_back([&promise] {
      compute();
      promise.set_value(1);
      compute();
    });
  int kept = 0;
  for (std::promise<int>& promise : promises)
    kept += promise.get_future().get();
  for (std::thread& thread : threads)
    thread.join();
  return kept - 4;
}
