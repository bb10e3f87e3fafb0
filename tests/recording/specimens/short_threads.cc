// Threads that compute for a fifth of a millisecond each: a period of samples is longer.
#include <thread>
#include <vector>

#include "compute.h"

int main() {
  for (int round = 0; round < 300; ++round) {
    std::vector<std::thread> all;
    for (int i = 0; i < 4; ++i)
      all.emplace_back(compute, 200'000);
    for (std::thread& one : all)
      one.join();
  }
  return 0;
}
