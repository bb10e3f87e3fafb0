// Chunks of the file `events` that a thread appends records to. When one is full its content moves, encoded, to a chunk that is
// written, not mapped, and the same few hot pages are used again: far cheaper than pages that are new to the thread. Most
// threads of a program with many do so little that a page holds it: the first chunk of each is one, and stays as it is when it is
// full.
//
// Threads: any. Signals must be blocked by the caller. Errors: null or false, and the recording has
// stopped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "events_space.h"
#include "longpole/raw_record.h"

namespace longpole::recorder {

inline constexpr std::uint32_t kFirstChunkBytes = kPageBytes;  // of sequence 0

// An empty chunk whose header is written but for `tid` and `handle`. One of a thread that has ended, where there is one.
longpole_chunk* make_chunk(std::uint32_t thread, std::uint32_t sequence, std::uint32_t creator,
                           std::uint64_t start_function);

// In each page, to see by its address alone that a record has no place: the next page comes first. So much is spared that a few
// handlers that interrupt each other right at the end of a page all see that they ran over.
inline constexpr std::uintptr_t kFirstSlot = LONGPOLE_FIRST_SLOT;
inline constexpr std::uintptr_t kPlaceMask = kPageBytes - 1;

// A record's last three members, to be stored at once: on both architectures the low bytes come first. While it is 0 the slot
// is empty, whatever the others are.
using Word = std::uint64_t __attribute__((may_alias));
inline Word* last_word_of(longpole_record* record) {
  static_assert(offsetof(longpole_record, other_low) == 24);
  static_assert(offsetof(longpole_record, result) == 30);
  static_assert(offsetof(longpole_record, kind_and_flags) == 31);
  return reinterpret_cast<Word*>(record) + 3;
}

// Zeros, for one thread. What is large must be neither on its stack nor thread-local, which glibc takes from its stack:
// that may be as small as 16 KiB, and is the program's.
void* map_memory(std::size_t bytes);
void unmap_memory(void* memory, std::size_t bytes);  // null is allowed

// Room to encode a chunk in, for one thread.
struct Scratch;
Scratch* make_scratch();
void* memory_of(Scratch* scratch);  // for whatever comes before the next chunk is emptied
inline constexpr std::size_t kScratchBytes = LONGPOLE_LARGEST_CHUNK;

enum class Emptied : std::uint8_t {
  kYes,
  kNo,       // a slot is not filled: what was to fill it was interrupted, and may still do so
  kStopped,  // the recording
};

// Moves the records away and leaves the chunk empty, the next in sequence. Not of a thread's first chunk.
Emptied empty_chunk(longpole_chunk* chunk, Scratch* scratch);

// Of a thread that has ended, with all that it recorded last, up to `end`. Where that is little it moves away, and the chunk is kept for
// another thread, so many at most; otherwise it stays where it is, in the file alone.
void retire_chunk(longpole_chunk* chunk, std::uintptr_t end);

// One that is not retired, and what it is to hold of a thread's end. Null is allowed.
void give_up_chunk(longpole_chunk* chunk);

// In a child after fork(): they are its parent's.
void forget_free_chunks();

void unmap_scratch(Scratch* scratch);  // null is allowed

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
