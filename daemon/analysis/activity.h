// What the threads do in each function, on one simulated computer: so that two computers, schedulers
// or bindings can be compared function by function (thesis, Paper III section 5).
//
//   thread  ├── runs in f ──┤ runnable: f ├── runs in f, takes M ──┤ blocked: who called lock ├─ …
//
// Every moment of a thread, from its start to its end, is in one place; the sum over all functions is
// the life of all threads.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/simulate.h"
#include "simulation/simulator.h"

namespace longpole::analysis {

struct FunctionActivity {
  FunctionId function;     // none: not known
  double running_ns = 0;   // computing, or spinning for a lock taken there
  double runnable_ns = 0;  // could compute there and had no CPU
  double blocked_ns = 0;   // in a call made there, until another thread or the time let it go
};

// Of the stretches that it is handed.
class ActivityConsumer final : public simulation::StretchConsumer {
 public:
  // The Recording must outlive it.
  explicit ActivityConsumer(const Recording& recording);
  void add(const simulation::Stretch& stretch) override;
  // In order of function id, unknown last; without those where nothing was done.
  [[nodiscard]] std::vector<FunctionActivity> functions() const;

  // The parts of which add() makes a stretch: of the computing that ends in the event, and of the
  // call itself.
  void compute(const Event& event, double running_ns, double runnable_ns);
  void wait(const Event& event, double blocked_ns);

 private:
  struct Times {
    double running = 0;
    double runnable = 0;
    double blocked = 0;
  };
  void spin(const Event& event, double running_ns, double runnable_ns);

  struct Last {
    std::uint32_t event = 0;
    Nanoseconds end{-1};  // negative: the thread has not started
  };

  const Recording& recording_;
  std::vector<Times> by_profile_;  // and one more: not known
  std::vector<Times> by_stack_;    // likewise
  std::vector<Last> last_;         // per thread
};

// Under `shared` on so many CPUs, of the ideal execution.
[[nodiscard]] std::vector<FunctionActivity> shared_activity(const Recording& recording,
                                                            const simulation::Schedule& ideal,
                                                            std::uint32_t cpus);

}  // namespace longpole::analysis
