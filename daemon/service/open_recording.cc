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

template <typename Row, typename Compute>
std::vector<Table<Row>> tables(std::span<const std::uint32_t> cpus, const Compute& compute) {
  std::vector<Table<Row>> computed(cpus.size());
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < cpus.size(); i = next++)
      computed[i] = compute(cpus[i]);
  };
  const std::size_t threads =
      std::min<std::size_t>(cpus.size(), std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::future<void>> helpers;
  for (std::size_t i = 1; i < threads; ++i)
    helpers.push_back(std::async(std::launch::async, take));
  take();
  for (std::future<void>& helper : helpers)
    helper.get();
  return computed;
}

}  // namespace

OpenRecording::OpenRecording(Recording recording)
    : study_(std::make_shared<const Recording>(std::move(recording))) {
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

std::vector<Table<FunctionRow>> OpenRecording::functions(
    std::span<const std::uint32_t> cpus) const {
  return tables<FunctionRow>(cpus, [this](std::uint32_t count) {
    return study_.functions(count, Scheduler::shared, analysis::WithHeadroom::no);
  });
}

std::vector<Table<LineRow>> OpenRecording::lines(std::span<const std::uint32_t> cpus) const {
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
