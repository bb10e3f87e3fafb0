// What `longpole validate` prints: predictions beside real runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/validation.h"
#include "simulation/models.h"

namespace longpole::cli {

struct ValidationRow {
  std::uint32_t cpus = 1;
  std::optional<analysis::Real> real;  // none: the machine has not so many
  double predicted_ns = 0;
  double predicted_speedup = 1;
  std::optional<analysis::Interval> interval;  // of the predicted speed-up
  double simulated_cpu_ns = 0;                 // spinning for locks included
  double cpu_time_ratio = 1;                   // of that to the same on one CPU
  std::optional<double> compensated_speedup;   // by the CPU time of the real runs; not in lockstep
  // Had computing taken as much CPU time as on one CPU (analysis/cpu_time_on.h); none: it is taken to.
  std::optional<double> uncorrected_speedup;
  std::optional<double> plain_speedup;  // what a recording that is not in lockstep would say
  double limit = 1;
  double amdahl = 1;

  // On one CPU the speed-up is 1 by definition.
  [[nodiscard]] std::optional<analysis::PredictionError> error() const {
    if (!real || cpus == 1)
      return std::nullopt;
    return analysis::error_of(*real, predicted_speedup);
  }
  [[nodiscard]] std::optional<double> compensated_error() const {
    if (!real || !compensated_speedup)
      return std::nullopt;
    return analysis::error_of(*real, *compensated_speedup).error;
  }
};

struct Validation {
  std::string program;
  std::uint32_t rounds = 0;
  std::size_t threads = 0;
  std::string scheduler;
  simulation::Model model = simulation::Model::direct;
  double serial_fraction = 1;
  double on_one_ns = 0;
  double spinning_ns = 0;  // in that, spun away for locks
  double cpu_ns = 0;       // of what is simulated
  double unused_ns = 0;  // CPU time of the recorded run that is not, its recording aside: spinning
  // Of the real runs' CPU time on one CPU, that time slices of recording::long_slice save: it went into
  // loading caches anew. None: it was not run so.
  std::optional<double> refilling_share;
  analysis::RunsThatRead that_read;          // of all real runs
  bool kept_on_cpus = false;                 // in the real runs, as cli/real_runs.h has it
  double unevenness = 1;                     // of the CPUs, as analysis::unevenness() has it
  std::vector<std::string> lockstep_advice;  // codes of notices, recording/lockstep_advice.h
  bool lockstep_as_advised = false;          // chosen by that, not by the user
  std::string notices;
  std::vector<ValidationRow> rows;
};

[[nodiscard]] std::string validation_json(const Validation& validation);
[[nodiscard]] std::string validation_text(const Validation& validation);

// What one has to know to trust the table, or not. Part of the text.
[[nodiscard]] std::string validation_caveats(const Validation& validation);

}  // namespace longpole::cli
