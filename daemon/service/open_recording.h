// One recording that somebody has open: its Study, and the tables already computed from it.
//
// Shared by all handles of one file. Any number of threads may ask at once; an answer is computed
// outside the lock, the CPU counts asked for together on several threads.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "analysis/study.h"
#include "trace/recording.h"

namespace longpole::service {

template <typename Row>
using SharedTable = std::shared_ptr<const analysis::Table<Row>>;

// Tables under the scheduler `shared`, by CPU count, at most max_cached_tables of them.
template <typename Row>
class TableCache {
 public:
  [[nodiscard]] SharedTable<Row> find(std::uint32_t cpus);
  void keep(SharedTable<Row> table);

 private:
  std::mutex mutex_;
  std::list<SharedTable<Row>> tables_;  // the last used first
};

class OpenRecording {
 public:
  explicit OpenRecording(Recording recording);

  [[nodiscard]] const analysis::Study& study() const { return study_; }
  [[nodiscard]] const Recording& recording() const { return study_.recording(); }

  // One table per count, in the order asked for. Counts are ≥ 1.
  [[nodiscard]] std::vector<SharedTable<analysis::FunctionRow>> functions(
      std::span<const std::uint32_t> cpus);
  [[nodiscard]] std::vector<SharedTable<analysis::LineRow>> lines(
      std::span<const std::uint32_t> cpus);

  // The files of the user's own code that have lines to show, in order of their paths.
  [[nodiscard]] const std::vector<FileId>& files() const { return files_; }

 private:
  analysis::Study study_;
  std::vector<FileId> files_;
  TableCache<analysis::FunctionRow> functions_;
  TableCache<analysis::LineRow> lines_;
};

}  // namespace longpole::service
