// What a user should know about a recording besides its numbers.
#pragma once

#include <vector>

#include "recording/merge.h"
#include "recording/polls.h"

namespace longpole::recording {

struct Losses {
  std::uint64_t damaged_chunks = 0;
  bool several_threads = false;
  bool entered_functions = false;
  std::uint64_t futex_waits = 0;        // by the program's own system calls
  std::uint64_t unexplained_waits = 0;  // in no recorded call, ended by nobody who is known
  std::int64_t unexplained_ns = 0;
  Polls polls{};
  std::int64_t computed_ns = 0;  // CPU time of all threads
};

[[nodiscard]] std::vector<Notice> notices_of(const MergeInput& input, const Losses& losses);

}  // namespace longpole::recording
