// oneTBB, whose threads wait by system calls of their own: twice, four threads do 12 parts between them, taking them from each
// other, and then main does 4 alone.
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include "compute.h"

namespace {

constexpr long part = 10'000'000;
constexpr int pieces_of_a_part = 4;

}  // namespace

int main() {
  const tbb::global_control four(tbb::global_control::max_allowed_parallelism, 4);
  for (int round = 0; round < 2; ++round) {
    tbb::parallel_for(0, 12 * pieces_of_a_part, [](int) { compute(part / pieces_of_a_part); });
    compute(4 * part);
  }
}
