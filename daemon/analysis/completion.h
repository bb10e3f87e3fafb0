// How long a program takes on any number of CPUs, from one simulation of its ideal execution.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulation/simulate.h"

namespace longpole::analysis {

enum class Scheduler : std::uint8_t { ideal, shared };
[[nodiscard]] const char* scheduler_name(Scheduler scheduler);

struct Prediction {
  std::uint32_t cpus = 1;
  Scheduler scheduler = Scheduler::shared;
  double total_ns = 0;
  double speedup = 1;  // against the same scheduler on one CPU
  std::optional<simulation::Deadlock> deadlock;
};

class CompletionTimes {
 public:
  CompletionTimes(const simulation::Schedule& ideal, std::size_t threads);

  // The CPU count that decides: with a CPU for each thread nothing changes any more. `cpus` ≥ 1.
  [[nodiscard]] std::uint32_t useful(std::uint32_t cpus, Scheduler scheduler) const;
  // Under `shared`, in ns.
  [[nodiscard]] double on(std::uint32_t cpus) const;
  [[nodiscard]] Prediction predict(std::uint32_t cpus, Scheduler scheduler) const;

 private:
  std::uint32_t threads_;
  std::vector<simulation::ConcurrencyStep> levels_;  // how long so many threads run at once
  std::optional<simulation::Deadlock> deadlock_;
};

}  // namespace longpole::analysis
