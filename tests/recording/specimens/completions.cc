// Four threads that come to a barrier at which one of them does twice as much, alone, as each of them before.
#include <barrier>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;
constexpr int phases = 40;
volatile unsigned long sum = 0;

void compute(int parts) {
  unsigned long x = 0;
  for (unsigned long i = 0; i < static_cast<unsigned long>(parts) * 1'000'000; ++i)
    x = x * 31 + i;
  sum = x;
}

struct Completion {
  void operator()() noexcept { compute(4); }
};

}  // namespace

int main() {
  std::barrier together(threads, Completion{});
  std::vector<std::jthread> all;
  for (int own = 0; own < threads; ++own)
    all.emplace_back([&] {
      for (int phase = 0; phase < phases; ++phase) {
        compute(2);
        together.arrive_and_wait();
      }
    });
  return 0;
}
