// How many records a run directory holds so far; for progress, while the program runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "recording/system.h"

namespace longpole::recording {

// Looks again only at what may still change, so that a long run is not read from its beginning each time. Not safe for
// use by two threads at once.
class RecordCounter {
 public:
  explicit RecordCounter(std::filesystem::path run_directory)
      : run_directory_(std::move(run_directory)) {}

  // Those of the processes that are followed included.
  [[nodiscard]] std::uint64_t count();

 private:
  std::uint64_t count_own(std::uint64_t end);

  std::filesystem::path run_directory_;
  Descriptor events_;
  std::uint64_t looked_at_ = 0;  // where the chunks begin that no call has seen
  std::vector<std::uint64_t>
      changing_;               // where chunks begin, before that, that threads still write to
  std::uint64_t settled_ = 0;  // records in the others before that
  std::map<std::uint32_t, RecordCounter> children_;
};

}  // namespace longpole::recording
