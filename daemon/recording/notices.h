// What a user should know about a recording besides its numbers.
#pragma once

#include <vector>

#include "recording/merge.h"

namespace longpole::recording {

struct Losses {
  std::uint64_t damaged_chunks = 0;
  bool created_threads = false;
  std::uint64_t futex_waits = 0;  // by the program's own system calls
};

[[nodiscard]] std::vector<Notice> notices_of(const MergeInput& input, const Losses& losses);

}  // namespace longpole::recording
