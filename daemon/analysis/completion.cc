#include "analysis/completion.h"

#include <algorithm>

namespace longpole::analysis {
namespace {

// All that the completion time depends on, as steps, one for each number of threads.
std::vector<simulation::ConcurrencyStep> time_at_levels(const simulation::Schedule& schedule) {
  const std::vector<simulation::ConcurrencyStep> steps = simulation::concurrency(schedule);
  std::vector<Nanoseconds> time;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    time.resize(std::max<std::size_t>(time.size(), steps[i - 1].running + 1));
    time[steps[i - 1].running] += steps[i].time - steps[i - 1].time;
  }
  std::vector<simulation::ConcurrencyStep> levels;
  Nanoseconds end{};
  for (std::uint32_t running = 0; running < time.size(); ++running) {
    if (time[running] > Nanoseconds{})
      levels.push_back({end, running});
    end += time[running];
  }
  levels.push_back({end, 0});
  return levels;
}

}  // namespace

const char* scheduler_name(Scheduler scheduler) {
  switch (scheduler) {
    case Scheduler::ideal:
      return "ideal";
    case Scheduler::shared:
      return "shared";
  }
  return "";
}

CompletionTimes::CompletionTimes(const simulation::Schedule& ideal, std::size_t threads)
    : threads_(static_cast<std::uint32_t>(std::max<std::size_t>(threads, 1))),
      levels_(time_at_levels(ideal)),
      deadlock_(ideal.deadlock) {}

std::uint32_t CompletionTimes::useful(std::uint32_t cpus, Scheduler scheduler) const {
  return scheduler == Scheduler::ideal ? threads_ : std::min(cpus, threads_);
}

double CompletionTimes::on(std::uint32_t cpus) const {
  return static_cast<double>(simulation::shared_completion_times_cpus(levels_, cpus)) / cpus;
}

Prediction CompletionTimes::predict(std::uint32_t cpus, Scheduler scheduler) const {
  Prediction prediction;
  prediction.cpus = cpus;
  prediction.scheduler = scheduler;
  prediction.total_ns = on(useful(cpus, scheduler));
  const double on_one = on(useful(1, scheduler));
  prediction.speedup = prediction.total_ns > 0 ? on_one / prediction.total_ns : 1;
  prediction.deadlock = deadlock_;
  return prediction;
}

}  // namespace longpole::analysis
