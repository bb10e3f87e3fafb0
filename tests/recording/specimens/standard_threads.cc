// Threads of the C++ library: starting and joining them passes through libstdc++.
#include <array>
#include <mutex>
#include <thread>

namespace {

std::mutex counting;
volatile unsigned long sum = 0;

void count_up() {
  for (int round = 0; round < 50; ++round) {
    unsigned long x = 0;
    for (unsigned long i = 0; i < 1000000; ++i)
      x = x * 31 + i;
    const std::lock_guard<std::mutex> guard(counting);
    sum = sum + x;
  }
}

}  // namespace

int main() {
  std::thread first(count_up);
  std::thread second(count_up);
  first.join();
  second.join();
  std::thread last([] {
    unsigned long x = 0;
    for (unsigned long i = 0; i < 50000000; ++i)
      x = x * 31 + i;
    sum = sum + x;
  });
  last.join();
}
