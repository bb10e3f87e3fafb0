// Four threads that come to a barrier after work of which each has most in turn, and to a latch in the end.
#include <barrier>
#include <latch>
#include <thread>
#include <vector>

#include "compute.h"

namespace {

constexpr int threads = 4;
constexpr int phases = 40;
constexpr unsigned long part = 500'000;

}  // namespace

int main() {
  std::barrier together(threads);
  std::latch at_end(threads);
  std::vector<std::jthread> all;
  for (int own = 0; own < threads; ++own)
    all.emplace_back([&, own] {
      for (int phase = 0; phase < phases; ++phase) {
        compute(((own + phase) % threads == 0 ? 6 : 2) * part);
        together.arrive_and_wait();
      }
      at_end.arrive_and_wait();
    });
  return 0;
}
