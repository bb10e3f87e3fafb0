// When threads waited for which semaphore. Whoever waits is counted in the semaphore until it has its unit, and for so
// long each post enters the kernel, also where nobody is left to be woken: of two threads on one CPU, one posts a hundred
// times before the other gets that far.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "recording/raw_chunks.h"

namespace longpole::recording {

class SemaphoreWaits {
 public:
  SemaphoreWaits() = default;
  // A wait ends with the next record of its thread; where there is none, never.
  explicit SemaphoreWaits(const std::vector<RawThread>& threads);

  [[nodiscard]] bool has_waiter(std::uint64_t semaphore, std::uint64_t stamp) const;

 private:
  struct Wait {
    std::uint64_t begin;
    std::uint64_t end;
  };

  std::unordered_map<std::uint64_t, std::vector<Wait>> waits_;  // apart, in order of time
};

}  // namespace longpole::recording
