#include "service/open_recording.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <utility>

namespace longpole::service {
namespace {

using analysis::FunctionRow;
using analysis::LineRow;
using analysis::Scheduler;
using analysis::Table;

// Does `compute(i)` for each i below `count`.
template <typename Compute>
void on_all_cpus(std::size_t count, const Compute& compute) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++)
      compute(i);
  };
  const std::size_t threads =
      std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::future<void>> helpers;
  for (std::size_t i = 1; i < threads; ++i)
    helpers.push_back(std::async(std::launch::async, take));
  take();
  for (std::future<void>& helper : helpers)
    helper.get();
}

template <typename Row, typename Compute>
std::vector<Table<Row>> tables(std::span<const std::uint32_t> cpus, const Compute& compute) {
  std::vector<Table<Row>> computed(cpus.size());
  on_all_cpus(cpus.size(), [&](std::size_t i) { computed[i] = compute(cpus[i]); });
  return computed;
}

}  // namespace

OpenRecording::OpenRecording(Recording recording)
    : study_(std::make_shared<const Recording>(std::move(recording))),
      // The study keeps it as long as this lives.
      forecaster_(std::shared_ptr<const Recording>(std::shared_ptr<void>(), &study_.recording())) {
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

std::vector<Table<FunctionRow>> OpenRecording::functions(
    std::span<const std::uint32_t> cpus) const {
  study_.prepare(cpus);
  return tables<FunctionRow>(cpus, [this](std::uint32_t count) {
    return study_.functions(count, Scheduler::shared, analysis::WithHeadroom::no);
  });
}

std::vector<Table<LineRow>> OpenRecording::lines(std::span<const std::uint32_t> cpus) const {
  study_.prepare(cpus);
  return tables<LineRow>(
      cpus, [this](std::uint32_t count) { return study_.lines(count, Scheduler::shared); });
}

const analysis::Quartz& OpenRecording::quartz() const {
  std::call_once(quartz_once_, [this] {
    quartz_ = std::make_unique<const analysis::Quartz>(recording(), study_.ideal());
  });
  return *quartz_;
}

}  // namespace longpole::service
