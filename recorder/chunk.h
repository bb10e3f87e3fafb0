// Chunks of the file `events`. A thread appends to one that is mapped, reserved on disk and filled
// with pages before use: writing a record never faults, not even on a full disk. When it is full its
// content moves to a chunk that is written, not mapped, and the same few hot pages are used again:
// ten times cheaper than pages that are new to the thread.
//
// Threads: any. Signals must be blocked by the caller. Errors: null or false, and the recording has
// stopped.
#pragma once

#include <cstdint>

#include "longpole/raw_record.h"

namespace longpole::recorder {

inline constexpr std::uint32_t kChunkBytes = LONGPOLE_CHUNK_BYTES;

// An empty chunk whose header is written but for `tid` and `handle`; it lies at a multiple of its
// length.
longpole_chunk* make_chunk(std::uint32_t thread, std::uint32_t sequence, std::uint32_t creator,
                           std::uint64_t start_function);

// Moves the records away and leaves the chunk empty, the next in sequence.
bool empty_chunk(longpole_chunk* chunk);

// Null is allowed.
void unmap_chunk(longpole_chunk* chunk);

// While it lives no signal handler runs in the calling thread; errno comes out as it went in.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  std::uint64_t mask_before_ = 0;
  int errno_before_;
};

}  // namespace longpole::recorder
