// Chunks of the file `events`: reserved on disk, mapped and filled with pages before use, so that
// writing a record never faults, not even on a full disk.
//
// Threads: any. Signals must be blocked by the caller. Errors: null, and the recording has stopped.
#pragma once

#include <cstdint>

#include "longpole/raw_record.h"

namespace longpole::recorder {

// An empty chunk whose header is written but for `tid` and `handle`; it ends on a multiple of
// LONGPOLE_CHUNK_BYTES.
longpole_chunk* make_chunk(std::uint32_t bytes, std::uint32_t thread, std::uint32_t sequence,
                           std::uint32_t creator, std::uint64_t start_function);

// Null is allowed.
void unmap_chunk(longpole_chunk* chunk);

// The address of the first slot to use.
std::uintptr_t first_slot(const longpole_chunk* chunk);

// While it lives no signal handler runs in the calling thread; errno comes out as it went in.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  std::uint64_t mask_before_;
  int errno_before_;
};

}  // namespace longpole::recorder
