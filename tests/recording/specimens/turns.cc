// Two threads that work in turns, and tell each other so through an atomic: nothing is gained by a second CPU.
#include <atomic>
#include <thread>

#include "compute.h"

namespace {

void work_in_turns(std::atomic<int>& turn, int mine) {
  for (int next = mine; next < 80; next += 2) {
    for (int now = turn; now != next; now = turn)
      turn.wait(now);
    compute(3'000'000);
    turn = next + 1;
    turn.notify_all();
  }
}

}  // namespace

int main() {
  std::atomic<int> turn = 0;
  std::thread other([&turn] { work_in_turns(turn, 1); });
  work_in_turns(turn, 0);
  other.join();
  return 0;
}
