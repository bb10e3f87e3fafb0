// What `longpole validate` predicts from a recording, and what the real runs then say of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/forecast.h"
#include "analysis/validation.h"
#include "cli/computer_options.h"
#include "cli/validation_table.h"
#include "trace/error.h"
#include "trace/recording.h"

namespace longpole::cli {

struct ValidationPrediction {
  Validation validation;  // all but what the real runs say
  // What it was predicted with, for predictions of other CPU time.
  std::unique_ptr<analysis::Forecaster> forecaster;
  std::vector<analysis::Computer> computers;
  analysis::ModelChoice models;

  // The speed-up of `row` if computing took so many times the CPU time on so many CPUs. Errors: those of the
  // simulation.
  [[nodiscard]] Expected<double> compensated(const ValidationRow& row, double cpu_time_ratio) const;
};

// On each of the numbers of CPUs of a machine with such costs, unless the options say others. `program`: its name where
// the recording does not say it. Shows that it goes on. Errors: of the options and of the simulation; and when the program
// stands still.
[[nodiscard]] Expected<ValidationPrediction> predict(const ComputerOptions& options,
                                                     const HostCosts& costs, Recording recorded,
                                                     const std::string& program,
                                                     const std::vector<std::uint32_t>& cpus);

// The time on so many CPUs from a recording in lockstep for them. That on one likewise, where the calls say how
// the program spins or takes work; where they do not, from the one made there, which on one CPU also spun, in ways
// that no simulation knows of.
void take_lockstep(Validation& plain, const Validation& lockstep);

// Puts the real runs on as many CPUs as `row` has, more than one, into it, and what their CPU time says of its
// prediction, which `prediction` made: in lockstep, where take_lockstep() changed the row. `on_one` and `on_many` as
// for analysis::real_speedup(). Errors: those of the simulation.
[[nodiscard]] Expected<void> hold_against(ValidationRow& row,
                                          const ValidationPrediction& prediction,
                                          std::span<const analysis::RealRun> on_one,
                                          std::span<const analysis::RealRun> on_many);

}  // namespace longpole::cli
