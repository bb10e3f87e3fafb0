// The test bench of the searches for a binding: how long the program takes with its threads bound so.
//
//   TestBench bench(recording, machine, workers);
//   const std::vector<Trial> trials = bench.test(bindings);
//
// A test is a simulation of the bound program on the machine, by the simulator that `simulate` asks, and by the model
// that it would take (analysis/forecast.h), on the first course of chance. The middle of all courses, which `simulate`
// shows, is for what a search found: where they differ, they differ by little of what bindings do. What does not
// change between two bindings (the survey of the recording, its pairs) is found once, bindings that
// differ in nothing that counts are tested once, and those of a call are tested side by side.
//
// Not safe to use from several threads at once; uses up to `workers` itself.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "allocation/binding.h"
#include "allocation/disturbances.h"
#include "simulation/models.h"
#include "simulation/simulator.h"
#include "simulation/wait_fors.h"

namespace longpole::allocation {

// Two threads that one CPU kept apart, or one signal between CPUs, and how long that held up the end
// of the program: of what decided when it ended.
struct Delay {
  std::uint32_t thread = 0;   // that waited
  std::uint32_t culprit = 0;  // that had the CPU meanwhile, or whose signal was under way
  bool by_latency = false;
  Nanoseconds time{};
};

class DelayFinder;

// Between which completion times a binding is where it is disturbed (disturbances.h), undisturbed
// included.
struct Spread {
  Nanoseconds least{};
  // Without what slower CPUs explain, to a thousandth: the undisturbed time unless things come in
  // another order. The longest there is where the program stands still.
  Nanoseconds most{};
};

struct Trial {
  // Completion time; the longest there is where the program stands still.
  Nanoseconds total{};
  simulation::Model model = simulation::Model::direct;
  bool deadlocks = false;
  std::optional<std::vector<Delay>> delays;  // where asked for: in order of thread and culprit
  std::optional<Spread> spread;              // where asked for

  // What a better binding is faster than, as far as is known of this one.
  [[nodiscard]] Nanoseconds at_worst() const { return spread ? spread->most : total; }
};

class TestBench {
 public:
  enum class Delays : bool { no, yes };

  // `recording` must outlive it, and its condition counts be known
  // (simulation::with_known_condition_counts). What `machine` says of bindings is not looked at.
  TestBench(const Recording& recording, simulation::Machine machine, unsigned workers);
  ~TestBench();
  TestBench(const TestBench&) = delete;
  TestBench& operator=(const TestBench&) = delete;

  // A CPU beyond those of the machine is a shadow: there only for the test (Paper IV section 4).
  // Errors: those of the machine.
  [[nodiscard]] Expected<std::vector<Trial>> test(std::span<const Binding> bindings,
                                                  Delays delays = Delays::no);
  // What test() says of it, and its spread: by disturbance_count simulations more.
  [[nodiscard]] Expected<Trial> disturb(const Binding& binding);
  // The time that `simulate` predicts, on the middle one of the courses of chance, and the spread, which holds that of
  // each course.
  [[nodiscard]] Expected<Trial> predict(const Binding& binding);
  // Threads bound as the recording says, or not at all; without a spread.
  [[nodiscard]] Expected<Trial> predict_unbound();

  [[nodiscard]] Binding canonical(const Binding& binding) const {
    return interchangeable_.canonical(binding);
  }
  [[nodiscard]] const Recording& recording() const { return recording_; }
  [[nodiscard]] const simulation::Machine& machine() const { return machine_; }
  [[nodiscard]] std::uint32_t cpus() const { return machine_.cpus; }
  [[nodiscard]] unsigned workers() const { return workers_; }
  // Simulations so far.
  [[nodiscard]] std::uint64_t simulated() const { return simulated_; }

 private:
  struct Paired;
  [[nodiscard]] const Paired* paired(simulation::Model model);
  // `machine` with the threads bound so.
  [[nodiscard]] simulation::Machine bound(const Binding& binding,
                                          simulation::Machine machine) const;
  // work(i, worker) for each i below `count`, side by side.
  void share_out(std::size_t count,
                 const std::function<void(std::size_t, std::size_t)>& work) const;
  struct Courses {
    Nanoseconds shortest{};
    Trial middle;
    Nanoseconds longest{};
  };
  [[nodiscard]] static Trial middle(Courses courses) { return std::move(courses.middle); }
  // The machine's own course of chance, and those behind it, by the first model by which none of them stands still.
  // `finder`: where delays are asked for, of one course.
  [[nodiscard]] Expected<Courses> simulate(const simulation::Machine& machine,
                                           std::uint32_t courses, DelayFinder* finder);
  // All that there are.
  [[nodiscard]] Expected<Courses> follow_courses(const simulation::Machine& machine);
  // `model`: one that has pairs.
  [[nodiscard]] Expected<Trial> simulate_by(simulation::Model model,
                                            const simulation::Machine& machine,
                                            DelayFinder* finder);

  const Recording& recording_;
  simulation::Machine machine_;
  std::vector<Disturbance> disturbances_;
  unsigned workers_;
  Interchangeable interchangeable_;
  std::array<std::unique_ptr<Paired>, simulation::model_count> paired_;
  std::array<std::once_flag, simulation::model_count> paired_once_;
  std::map<Binding, Trial> known_;
  std::vector<std::unique_ptr<DelayFinder>> finders_;  // one a worker: their memory is used again
  std::atomic<std::uint64_t> simulated_ = 0;
};

}  // namespace longpole::allocation
