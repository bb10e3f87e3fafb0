#include "service/open_recording.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include "service/limits.h"

namespace longpole::service {
namespace {

using analysis::FunctionRow;
using analysis::LineRow;
using analysis::Table;

// Calls work(0) … work(count − 1), on as many threads as there are CPUs.
template <typename Work>
void for_each_index(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++)
      work(i);
  };
  const std::size_t threads =
      std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < threads; ++i)
    helpers.emplace_back(take);
  take();
}

template <typename Row, typename Compute>
std::vector<SharedTable<Row>> tables(TableCache<Row>& cache, std::span<const std::uint32_t> cpus,
                                     const Compute& compute) {
  std::vector<SharedTable<Row>> found;
  std::vector<std::uint32_t> missing;
  for (const std::uint32_t count : cpus) {
    found.push_back(cache.find(count));
    if (found.back() == nullptr)
      missing.push_back(count);
  }
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());

  std::vector<SharedTable<Row>> computed(missing.size());
  for_each_index(missing.size(), [&](std::size_t i) {
    computed[i] = std::make_shared<const Table<Row>>(compute(missing[i]));
  });
  for (const auto& table : computed)
    cache.keep(table);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == nullptr) {
      const auto at = std::lower_bound(missing.begin(), missing.end(), cpus[i]);
      found[i] = computed[static_cast<std::size_t>(at - missing.begin())];
    }
  }
  return found;
}

}  // namespace

template <typename Row>
SharedTable<Row> TableCache<Row>::find(std::uint32_t cpus) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(tables_.begin(), tables_.end(),
                               [&](const auto& table) { return table->cpus == cpus; });
  if (at == tables_.end())
    return nullptr;
  tables_.splice(tables_.begin(), tables_, at);
  return tables_.front();
}

template <typename Row>
void TableCache<Row>::keep(SharedTable<Row> table) {
  const std::lock_guard lock(mutex_);
  const bool there = std::any_of(tables_.begin(), tables_.end(),
                                 [&](const auto& kept) { return kept->cpus == table->cpus; });
  if (there)
    return;
  tables_.push_front(std::move(table));
  if (tables_.size() > max_cached_tables)
    tables_.pop_back();
}

OpenRecording::OpenRecording(Recording recording)
    : study_(std::make_shared<const Recording>(std::move(recording))) {
  const std::vector<File>& all = this->recording().files;
  std::vector<bool> shown(all.size(), false);
  const std::array<std::uint32_t, 1> one_cpu = {1};
  for (const LineRow& row : lines(one_cpu)[0]->rows) {
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

std::vector<SharedTable<FunctionRow>> OpenRecording::functions(
    std::span<const std::uint32_t> cpus) {
  return tables(functions_, cpus, [this](std::uint32_t count) {
    return study_.functions(count, analysis::Scheduler::shared, analysis::WithHeadroom::no);
  });
}

std::vector<SharedTable<LineRow>> OpenRecording::lines(std::span<const std::uint32_t> cpus) {
  return tables(lines_, cpus, [this](std::uint32_t count) {
    return study_.lines(count, analysis::Scheduler::shared);
  });
}

}  // namespace longpole::service
