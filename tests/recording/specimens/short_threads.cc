// Threads that compute for a fifth of a millisecond each: a period of samples is longer.
#include <thread>
#include <vector>

namespace {

volatile unsigned long sum = 0;

void compute() {
  unsigned long x = 0;
  for (unsigned long i = 0; i < 200'000; ++i)
    x = x * 31 + i;
  sum = x;
}

}  // namespace

int main() {
  for (int round = 0; round < 300; ++round) {
    std::vector<std::thread> all;
    for (int i = 0; i < 4; ++i)
      all.emplace_back(compute);
    for (std::thread& one : all)
      one.join();
  }
  return 0;
}
