// What held up the end of a bound program: from its last stretch back along what each stretch had to
// wait for, the CPU or a signal.
//
//   thread A, CPU 0  ├── had the CPU ──┤                      A delayed B by 3
//   thread B, CPU 0      ready├·····3··├── ends last ──┤
//
// A search that changes where these threads are has a chance to gain; any other change cannot.
// (As critical blocks are for the neighbourhoods of job shops: Grabowski et al., 1986.)
#pragma once

#include <vector>

#include "allocation/test_bench.h"
#include "simulation/simulator.h"

namespace longpole::allocation {

class DelayFinder final : public simulation::StretchConsumer {
 public:
  void clear() { stretches_.clear(); }
  void add(const simulation::Stretch& stretch) override { stretches_.push_back(stretch); }
  // After the last stretch; in order of thread and culprit.
  [[nodiscard]] std::vector<Delay> delays() const;

 private:
  simulation::LargeArray<simulation::Stretch> stretches_;
};

}  // namespace longpole::allocation
