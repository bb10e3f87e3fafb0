// Forecasts: how long a recorded program takes on any simulated computer, and by which model.
//
//   const Forecaster forecaster(recording);
//   auto forecast = forecaster.on({Computer::Kind::machine, machine}, {});     model: auto
//
// The model `auto` (thesis, Paper VIII section 7) is the direct one; where the program stands still
// under that, client-server; where it does so again, strict. A forecast says which was used.
//
// What a run takes under `linux` is chance to some part (simulation::Machine::chance), be it short, or one whose threads
// wait for each other so often that who is first now decides who waits next: of x264 the courses were seen to lie 10% apart.
// Of several courses that chance can take (courses_of_chance.h) the forecast is the middle one, and what is looked at,
// too; of the longest recordings, which take long to simulate, it is the first.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/activity.h"
#include "analysis/completion.h"
#include "analysis/execution.h"
#include "simulation/models.h"
#include "simulation/simulator.h"

namespace longpole::analysis {

struct Computer {
  enum class Kind : std::uint8_t {
    ideal,    // a CPU for each thread; the number of CPUs has no effect
    shared,   // threads share the CPUs evenly (Paper VI)
    machine,  // CPUs under a scheduler, with all that a Machine has
  };
  Kind kind = Kind::shared;
  // Of the other kinds only the number of CPUs counts.
  simulation::Machine machine;
};
// "ideal", "shared", or the scheduler of the machine.
[[nodiscard]] std::string_view scheduler_name(const Computer& computer);
// Any of those names; the rest of the computer is as it comes.
[[nodiscard]] std::optional<Computer> computer_named(std::string_view scheduler);

// The same with one CPU: bound threads share it, and it is as fast as the first.
[[nodiscard]] Computer with_one_cpu(Computer computer);

// Two speed-ups that are less apart, as a ratio, say the same: of one beside the other nothing is told.
inline constexpr double alike_speedups = 1.15;
[[nodiscard]] bool are_alike(double speedup, double other);

struct ModelChoice {
  std::optional<simulation::Model> general;  // none: auto
  std::vector<simulation::Models::OfObject> objects;
};

struct Forecast {
  simulation::Model model = simulation::Model::direct;  // that was used in general
  double total_ns = 0;
  double spinning_ns = 0;    // CPU time that spins for locks; none but on a machine
  double fetching_ns = 0;    // and that locks last taken on another CPU take more
  std::uint64_t packed = 0;  // times that threads shared a CPU though another one was idle
  std::uint32_t chance = 0;  // the course that it took
  std::optional<simulation::Deadlock> deadlock;  // then there is no total time
  // Why `auto` did not take the direct model: where the program stands still under that.
  std::optional<simulation::Deadlock> of_direct;
};

struct Executed {
  simulation::Model model = simulation::Model::direct;  // that was used in general
  std::shared_ptr<const Execution> execution;
};

struct ForecastOfFunctions {
  Forecast forecast;
  std::vector<FunctionActivity> functions;  // up to where it stands still, if it does
};

// What is known of a choice of models takes memory as the recording does, and is kept for so many: `auto` asks for three.
inline constexpr std::size_t most_recent_models = 6;

// Safe for any number of threads. Holds the Recording, whose condition counts must be known
// (simulation::with_known_condition_counts).
class Forecaster {
 public:
  explicit Forecaster(std::shared_ptr<const Recording> recording);

  // The middle one of the courses of chance, or that of machine.chance alone.
  enum class Courses : bool { middle, given };
  // Errors: of the machine; and a model that needs to know who ended which wait in the recording,
  // for a program file that stands still.
  [[nodiscard]] Expected<Forecast> on(const Computer& computer, const ModelChoice& choice,
                                      Courses courses = Courses::middle) const;
  // The total time if its computing took `cpu_time_ratio` times the CPU time, everywhere alike (thesis,
  // Paper III section 4.3: the compensated prediction), and sleeps and other waits of fixed length as long
  // as ever. `uncompensated_ns`: as on() has it. Where no CPU has a speed (ideal, shared), waits count as
  // computing, as in the paper. The same errors.
  [[nodiscard]] Expected<double> compensated_total(const Computer& computer,
                                                   const ModelChoice& choice,
                                                   double uncompensated_ns,
                                                   double cpu_time_ratio) const;
  // The run itself, to look at. The same errors.
  [[nodiscard]] Expected<Executed> execute(const Computer& computer,
                                           const ModelChoice& choice) const;
  [[nodiscard]] Expected<ForecastOfFunctions> functions_on(const Computer& computer,
                                                           const ModelChoice& choice) const;

 private:
  struct Paired;
  [[nodiscard]] std::shared_ptr<Paired> paired(const simulation::Models& models) const;
  [[nodiscard]] bool depends_on_chance(const Computer& computer) const;
  [[nodiscard]] Expected<Forecast> on_machine(const simulation::Machine& machine,
                                              const simulation::Survey& survey) const;
  [[nodiscard]] Expected<Forecast> middle_of_courses(const simulation::Machine& machine,
                                                     const simulation::Survey& survey) const;
  [[nodiscard]] Expected<Forecast> under(const Computer& computer, const simulation::Models& models,
                                         Courses courses) const;
  [[nodiscard]] Expected<Executed> executed(const Computer& computer,
                                            const simulation::Models& models) const;

  std::shared_ptr<const Recording> recording_;
  mutable std::mutex mutex_;
  mutable std::list<std::shared_ptr<Paired>> recent_;  // the last that was asked for first
};

}  // namespace longpole::analysis
