// Chunks of the file `events`. A thread appends to one that is mapped, reserved on disk and filled
// with pages before use: writing a record never faults, not even on a full disk. When it is full its
// content moves, encoded, to a chunk that is written, not mapped, and the same few hot pages are used
// again: far cheaper than pages that are new to the thread.
//
// Threads: any. Signals must be blocked by the caller. Errors: null or false, and the recording has
// stopped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "longpole/raw_record.h"

namespace longpole::recorder {

inline constexpr std::uint32_t kChunkBytes = LONGPOLE_CHUNK_BYTES;

// An empty chunk whose header is written but for `tid` and `handle`; it lies at a multiple of its
// length. One of a thread that has ended, where there is one.
longpole_chunk* make_chunk(std::uint32_t thread, std::uint32_t sequence, std::uint32_t creator,
                           std::uint64_t start_function);

// The first slots are spared so that a few handlers that interrupt each other right at the end of a
// chunk all see that they ran over.
inline constexpr std::uintptr_t kFirstSlot = 256;

// Zeros, for one thread. What is large must be neither on its stack nor thread-local, which glibc takes from its stack:
// that may be as small as 16 KiB, and is the program's.
void* map_memory(std::size_t bytes);
void unmap_memory(void* memory, std::size_t bytes);  // null is allowed

// Room to encode a chunk in, for one thread.
struct Scratch;
Scratch* make_scratch();

enum class Emptied : std::uint8_t {
  kYes,
  kNo,       // a slot is not filled: what was to fill it was interrupted, and may still do so
  kStopped,  // the recording
};

// Moves the records away and leaves the chunk empty, the next in sequence.
Emptied empty_chunk(longpole_chunk* chunk, Scratch* scratch);

// Of a thread that has ended, with all that it recorded last. Where that is little it moves away, and the chunk is kept for
// another thread, 64 of them at most; otherwise it stays where it is, in the file alone.
void retire_chunk(longpole_chunk* chunk, std::size_t records);

// In a child after fork(): they are its parent's.
void forget_free_chunks();

// Null is allowed.
void unmap_chunk(longpole_chunk* chunk);
void unmap_scratch(Scratch* scratch);

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
