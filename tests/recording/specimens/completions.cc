// Four threads that come to a barrier at which one of them does twice as much, alone, as each of them before.
#include <barrier>
#include <thread>
#include <vector>

#include "compute.h"

namespace {

constexpr int threads = 4;
constexpr int phases = 120;
constexpr unsigned long part = 1'000'000;

struct Completion {
  void operator()() noexcept { compute(4 * part); }
};

}  // namespace

int main() {
  std::barrier together(threads, Completion{});
  std::vector<std::jthread> all;
  for (int own = 0; own < threads; ++own)
    all.emplace_back([&] {
      for (int phase = 0; phase < phases; ++phase) {
        compute(2 * part);
        together.arrive_and_wait();
      }
    });
  return 0;
}
