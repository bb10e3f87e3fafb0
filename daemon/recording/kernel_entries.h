// Which calls that release something entered the kernel to wake somebody up, as glibc 2.25 and later do: what a record
// costs beside an entry to the kernel is another matter than what it costs among instructions.
//
//   semaphore   each post while somebody waits, who is counted in it until he has his unit, also where nobody is left to
//               be woken: of two threads on one CPU, one posts a hundred times before the other gets that far
//   mutex       an unlock of what was acquired by waiting, alone or in the wait for a condition (nptl/lowlevellock.c:
//               whoever had to wait cannot know whether he was the last), or for which somebody began to wait meanwhile
//   condition   a signal where somebody waits who was not woken by one before, and a broadcast likewise
//
// Not of locks for reading and writing, nor of barriers.
#pragma once

#include <cstdint>
#include <vector>

#include "recording/raw_chunks.h"
#include "trace/recording.h"

namespace longpole::recording {

class KernelEntries {
 public:
  KernelEntries() = default;
  explicit KernelEntries(const std::vector<RawThread>& threads);

  // `thread`: the place among those that were given.
  [[nodiscard]] bool contains(ThreadId thread, const longpole_record& record) const;

 private:
  std::vector<std::vector<std::uint64_t>> stamps_;  // of each thread, in order
};

}  // namespace longpole::recording
