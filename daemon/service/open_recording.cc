#include "service/open_recording.h"

#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "analysis/call_tree.h"
#include "analysis/leading_places.h"
#include "service/all_cpus.h"
#include "service/limits.h"

namespace longpole::service {
namespace {

using analysis::FunctionRow;
using analysis::LineRow;
using analysis::Scheduler;
using analysis::Table;

template <typename Row, typename Compute>
std::vector<Table<Row>> tables(std::span<const std::uint32_t> cpus, const Compute& compute) {
  std::vector<Table<Row>> computed(cpus.size());
  on_all_cpus(cpus.size(), [&](std::size_t i) { computed[i] = compute(cpus[i]); });
  return computed;
}

}  // namespace

OpenRecording::OpenRecording(Recording recording)
    : study_(std::make_shared<const Recording>(std::move(recording))),
      forecaster_(lent()),
      charged_frames_(analysis::charged_frames(study_.recording())),
      leading_places_(analysis::leading_places(study_.recording())) {
  const std::vector<File>& all = this->recording().files;
  std::vector<bool> shown(all.size(), false);
  for (const LineRow& row : study_.lines(1, Scheduler::shared).rows) {
    if (row.file.known() && row.line != 0 && !all[row.file.index()].system)
      shown[row.file.index()] = true;
  }
  for (std::uint32_t id = 0; id < all.size(); ++id) {
    if (shown[id])
      files_.push_back(FileId{id});
  }
  std::sort(files_.begin(), files_.end(),
            [&](FileId a, FileId b) { return all[a.index()].path < all[b.index()].path; });
}

Expected<OpenRecording::Forecasts> OpenRecording::forecasts(
    std::span<const analysis::Computer> computers, const analysis::ModelChoice& models) const {
  std::vector<Expected<analysis::Forecast>> computed(computers.size() + 1);
  on_all_cpus(computed.size(), [&](std::size_t i) {
    computed[i] = forecaster_.on(
        i < computers.size() ? computers[i] : with_one_cpu(computers.front()), models);
  });
  Forecasts forecasts;
  for (const Expected<analysis::Forecast>& one : computed) {
    if (!one)
      return tl::unexpected(one.error());
    forecasts.asked.push_back(*one);
  }
  forecasts.on_one_cpu = std::move(forecasts.asked.back());
  forecasts.asked.pop_back();
  return forecasts;
}

std::shared_ptr<const analysis::SumsByCpus> OpenRecording::sums_of(
    const std::vector<ThreadId>& threads) const {
  if (threads.empty())
    return {std::shared_ptr<void>(), &study_.all_threads()};
  const std::scoped_lock lock(choices_mutex_);
  const auto at = std::find_if(choices_.begin(), choices_.end(),
                               [&](const Choice& kept) { return kept.first == threads; });
  if (at != choices_.end())
    choices_.splice(choices_.begin(), choices_, at);
  else
    choices_.emplace_front(threads, study_.choose(threads));
  if (choices_.size() > max_thread_choices)
    choices_.pop_back();
  return choices_.front().second;
}

std::vector<Table<FunctionRow>> OpenRecording::functions(std::span<const std::uint32_t> cpus,
                                                         const analysis::SumsByCpus& of) const {
  study_.prepare(cpus, of);
  return tables<FunctionRow>(
      cpus, [&](std::uint32_t count) { return study_.functions(count, Scheduler::shared, of); });
}

std::vector<Table<LineRow>> OpenRecording::lines(std::span<const std::uint32_t> cpus,
                                                 const analysis::SumsByCpus& of) const {
  study_.prepare(cpus, of);
  return tables<LineRow>(
      cpus, [&](std::uint32_t count) { return study_.lines(count, Scheduler::shared, of); });
}

Expected<OpenRecording::Drawn> OpenRecording::draw(const analysis::Computer& computer,
                                                   const analysis::ModelChoice& models) const {
  // The study has simulated that already.
  if (computer.kind != analysis::Computer::Kind::machine && !models.general &&
      models.objects.empty()) {
    const simulation::Schedule& schedule = study_.ideal();
    return Drawn{
        schedule.model,
        std::make_shared<const analysis::Timeline>(std::make_shared<const analysis::Execution>(
            lent(), std::shared_ptr<const simulation::Schedule>(std::shared_ptr<void>(), &schedule),
            computer.machine.cpus,
            computer.kind == analysis::Computer::Kind::ideal ? Scheduler::ideal
                                                             : Scheduler::shared))};
  }
  auto executed = forecaster_.execute(computer, models);
  if (!executed)
    return tl::unexpected(executed.error());
  return Drawn{executed->model,
               std::make_shared<const analysis::Timeline>(std::move(executed->execution))};
}

Expected<OpenRecording::Drawn> OpenRecording::timeline(const std::string& key,
                                                       const analysis::Computer& computer,
                                                       const analysis::ModelChoice& models) const {
  std::promise<Expected<Drawn>> promise;
  Drawing drawing;
  bool is_new = false;
  {
    const std::scoped_lock lock(timelines_mutex_);
    auto at = std::find_if(timelines_.begin(), timelines_.end(),
                           [&](const auto& kept) { return kept.first == key; });
    is_new = at == timelines_.end();
    if (is_new)
      at = timelines_.emplace(timelines_.end(), key, promise.get_future().share());
    drawing = at->second;
    timelines_.splice(timelines_.begin(), timelines_, at);
    if (timelines_.size() > max_timelines)
      timelines_.pop_back();
  }
  if (!is_new)
    return drawing.get();
  const auto forget = [&] {
    const std::scoped_lock lock(timelines_mutex_);
    timelines_.remove_if([&](const auto& kept) { return kept.first == key; });
  };
  try {
    Expected<Drawn> drawn = draw(computer, models);
    if (!drawn)
      forget();
    promise.set_value(drawn);
    return drawn;
  } catch (...) {  // no memory: whoever waits for it is told
    forget();
    promise.set_exception(std::current_exception());
    throw;
  }
}

const analysis::Quartz& OpenRecording::quartz() const {
  std::call_once(quartz_once_, [this] {
    quartz_ = std::make_unique<const analysis::Quartz>(recording(), study_.ideal());
  });
  return *quartz_;
}

}  // namespace longpole::service
