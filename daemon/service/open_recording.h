// One recording that somebody has open, with its Study. Shared by all handles of one file; any
// number of threads may ask at once.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "analysis/forecast.h"
#include "analysis/quartz.h"
#include "analysis/study.h"
#include "trace/recording.h"

namespace longpole::service {

class OpenRecording {
 public:
  // Takes as long as simulating and analysing the recording once.
  explicit OpenRecording(Recording recording);

  [[nodiscard]] const analysis::Study& study() const { return study_; }
  [[nodiscard]] const Recording& recording() const { return study_.recording(); }

  struct Forecasts {
    std::vector<analysis::Forecast> asked;  // in the order asked for
    analysis::Forecast on_one_cpu;          // of the first of those computers
  };
  // Computed on as many threads as there are CPUs.
  [[nodiscard]] Expected<Forecasts> forecasts(std::span<const analysis::Computer> computers,
                                              const analysis::ModelChoice& models) const;

  // Under the scheduler `shared`: one table per count, in the order asked for, computed on as many
  // threads as there are CPUs. Counts are ≥ 1. The study remembers the sums of the last counts.
  [[nodiscard]] std::vector<analysis::Table<analysis::FunctionRow>> functions(
      std::span<const std::uint32_t> cpus) const;
  [[nodiscard]] std::vector<analysis::Table<analysis::LineRow>> lines(
      std::span<const std::uint32_t> cpus) const;

  // Made when it is first asked for.
  [[nodiscard]] const analysis::Quartz& quartz() const;

  // The files of the user's own code that have lines to show, in order of their paths.
  [[nodiscard]] const std::vector<FileId>& files() const { return files_; }

 private:
  analysis::Study study_;
  analysis::Forecaster forecaster_;
  std::vector<FileId> files_;
  mutable std::once_flag quartz_once_;
  mutable std::unique_ptr<const analysis::Quartz> quartz_;
};

}  // namespace longpole::service
