// One recording that somebody has open, with its Study. Shared by all handles of one file; any
// number of threads may ask at once.
#pragma once

#include <cstdint>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/forecast.h"
#include "analysis/quartz.h"
#include "analysis/study.h"
#include "analysis/sums_by_cpus.h"
#include "analysis/timeline.h"
#include "trace/recording.h"

namespace longpole::service {

class OpenRecording {
 public:
  // Takes as long as simulating and analysing the recording once.
  explicit OpenRecording(Recording recording);

  [[nodiscard]] const analysis::Study& study() const { return study_; }
  [[nodiscard]] const Recording& recording() const { return study_.recording(); }
  // For those who want to share it. This must live as long as they do.
  [[nodiscard]] std::shared_ptr<const Recording> lent() const {
    return {std::shared_ptr<void>(), &recording()};
  }

  struct Forecasts {
    std::vector<analysis::Forecast> asked;  // in the order asked for
    analysis::Forecast on_one_cpu;          // of the first of those computers
  };
  // Computed on as many threads as there are CPUs.
  [[nodiscard]] Expected<Forecasts> forecasts(std::span<const analysis::Computer> computers,
                                              const analysis::ModelChoice& models) const;

  // Of some threads, in order, or with none named of all. The last max_thread_choices are kept, with the
  // sums of the last CPU counts. The result refers to this recording.
  [[nodiscard]] std::shared_ptr<const analysis::SumsByCpus> sums_of(
      const std::vector<ThreadId>& threads) const;

  // Under the scheduler `shared`: one table per count, in the order asked for, computed on as many
  // threads as there are CPUs. Counts are ≥ 1.
  [[nodiscard]] std::vector<analysis::Table<analysis::FunctionRow>> functions(
      std::span<const std::uint32_t> cpus, const analysis::SumsByCpus& of) const;
  [[nodiscard]] std::vector<analysis::Table<analysis::LineRow>> lines(
      std::span<const std::uint32_t> cpus, const analysis::SumsByCpus& of) const;

  // Made when it is first asked for.
  [[nodiscard]] const analysis::Quartz& quartz() const;

  struct Drawn {
    simulation::Model model = simulation::Model::direct;
    std::shared_ptr<const analysis::Timeline> timeline;
  };
  // The last max_timelines are kept; `key` says which they are. The result refers to this recording.
  [[nodiscard]] Expected<Drawn> timeline(const std::string& key, const analysis::Computer& computer,
                                         const analysis::ModelChoice& models) const;

  // By profile, and by stack: what a picture calls them.
  [[nodiscard]] const std::vector<StackId>& leading_places() const { return leading_places_; }
  [[nodiscard]] const std::vector<StackId>& charged_frames() const { return charged_frames_; }

  // The files of the user's own code that have lines to show, in order of their paths.
  [[nodiscard]] const std::vector<FileId>& files() const { return files_; }

 private:
  [[nodiscard]] Expected<Drawn> draw(const analysis::Computer& computer,
                                     const analysis::ModelChoice& models) const;

  analysis::Study study_;
  analysis::Forecaster forecaster_;
  std::vector<FileId> files_;
  std::vector<StackId> charged_frames_;
  std::vector<StackId> leading_places_;
  using Drawing = std::shared_future<Expected<Drawn>>;
  mutable std::mutex timelines_mutex_;
  mutable std::list<std::pair<std::string, Drawing>> timelines_;  // the last asked for first
  using Choice = std::pair<std::vector<ThreadId>, std::shared_ptr<const analysis::SumsByCpus>>;
  mutable std::mutex choices_mutex_;
  mutable std::list<Choice> choices_;  // the last asked for first
  mutable std::once_flag quartz_once_;
  mutable std::unique_ptr<const analysis::Quartz> quartz_;
};

}  // namespace longpole::service
