#include "chunk.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <initializer_list>

#include "encode_records.h"
#include "plain_memory.h"
#include "process.h"

namespace longpole::recorder {

SignalsBlocked::SignalsBlocked() : errno_before_(errno) {
  // Not through sigprocmask: it would leave out the two signals by which glibc cancels threads.
  const std::uint64_t all = ~std::uint64_t{0};
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask_before_, sizeof(all));
}

SignalsBlocked::~SignalsBlocked() {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask_before_, nullptr, sizeof(mask_before_));
  errno = errno_before_;
}

namespace {

// Those of threads that have ended, for others: to map one takes longer than all that a short thread does. Without a lock; whoever
// takes one out of its place has it alone.
template <std::size_t kCount>
class FreeChunks {
 public:
  longpole_chunk* take() {
    for (longpole_chunk*& place : places_) {
      if (__atomic_load_n(&place, __ATOMIC_RELAXED) != nullptr) {
        if (longpole_chunk* chunk = __atomic_exchange_n(&place, nullptr, __ATOMIC_ACQUIRE);
            chunk != nullptr) {
          return chunk;
        }
      }
    }
    return nullptr;
  }

  bool keep(longpole_chunk* chunk) {
    for (longpole_chunk*& place : places_) {
      longpole_chunk* nobody = nullptr;
      if (__atomic_compare_exchange_n(&place, &nobody, chunk, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {
        return true;
      }
    }
    return false;
  }

 private:
  longpole_chunk* places_[kCount];
};
FreeChunks<512> free_first_chunks;
FreeChunks<16> free_later_chunks;

longpole_chunk* take_free(std::uint32_t bytes) {
  return bytes == kFirstChunkBytes ? free_first_chunks.take() : free_later_chunks.take();
}

bool keep(longpole_chunk* chunk) {
  return chunk->bytes == kFirstChunkBytes ? free_first_chunks.keep(chunk)
                                          : free_later_chunks.keep(chunk);
}

// For the chunks of threads that end, whose stacks may be the smallest that there are. When more end at once, the chunks of the
// others stay where they are.
struct EndRoom {
  EncodingPlaces places;
  alignas(longpole_chunk) unsigned char page[kPageBytes];
  bool is_taken;
};
EndRoom end_rooms[16];

EndRoom* take_end_room() {
  for (EndRoom& room : end_rooms) {
    if (!__atomic_test_and_set(&room.is_taken, __ATOMIC_ACQUIRE)) {
      return &room;
    }
  }
  return nullptr;
}

// `scratch` has the chunk, header and all. At once: that it is whole its end says.
bool write_chunk(const unsigned char* scratch, std::size_t used, std::uint32_t bytes) {
  const std::int64_t offset = claim_bytes(bytes);
  return offset >= 0 && write_to_events(scratch, used, offset);
}

// Likewise to a unit that is mapped: a write takes longer than all else that is recorded of a short thread.
void copy_to_unit(const unsigned char* scratch, std::size_t used, longpole_chunk* unit) {
  longpole_chunk header;
  std::memcpy(&header, scratch, sizeof(header));
  unit->thread = header.thread;
  unit->sequence = header.sequence;
  unit->tid = header.tid;
  unit->used = header.used;
  unit->start_function = header.start_function;
  unit->creator = header.creator;
  unit->handle = header.handle;
  unit->encoded_bytes = header.encoded_bytes;
  copy_plainly(unit + 1, scratch + sizeof(header), used - sizeof(header));
  __atomic_store_n(&unit->form, LONGPOLE_FORM_ENCODED, __ATOMIC_RELEASE);
}

// A created thread's first chunk has a unit for what the thread leaves behind: a thread that ends maps nothing, for what others do at its end, a
// sanitizer above all, may be done already.
longpole_chunk* unit_of(const longpole_chunk* chunk) {
  return reinterpret_cast<longpole_chunk*>(static_cast<std::uintptr_t>(chunk->unit));
}

void release_unit(longpole_chunk* chunk) {
  unmap_chunk(unit_of(chunk));
  chunk->unit = 0;
}

// The records of a chunk, all up to `end`, page by page.
template <typename Visit>
void for_each_page(longpole_chunk* chunk, std::uintptr_t end, Visit visit) {
  for (auto page = reinterpret_cast<std::uintptr_t>(chunk); page + kFirstSlot < end;
       page += kPageBytes) {
    const std::uintptr_t page_end = page + kPageBytes < end ? page + kPageBytes : end;
    visit(reinterpret_cast<longpole_record*>(page + kFirstSlot),
          reinterpret_cast<longpole_record*>(page_end));
  }
}

std::size_t count_records(longpole_chunk* chunk, std::uintptr_t end) {
  std::size_t count = 0;
  for_each_page(chunk, end, [&](const longpole_record* first, const longpole_record* page_end) {
    count += static_cast<std::size_t>(page_end - first);
  });
  return count;
}

constexpr std::size_t longest_encoded(std::size_t records) {
  return sizeof(longpole_chunk) + records * kLongestEncoding + 1;
}

// What a chunk has up to `end`, all of it, goes to one that is written, through `scratch`; it holds nothing then.
Emptied move_away(longpole_chunk* chunk, std::uintptr_t end, EncodingPlaces& places,
                  unsigned char* scratch) {
  RecordEncoder encoder(places, scratch + sizeof(longpole_chunk));
  bool are_all_filled = true;
  for_each_page(chunk, end, [&](const longpole_record* first, const longpole_record* page_end) {
    are_all_filled = are_all_filled && encoder.add(first, page_end);
  });
  if (!are_all_filled) {
    return Emptied::kNo;
  }
  const std::size_t without_end = sizeof(longpole_chunk) + encoder.bytes();
  scratch[without_end] = LONGPOLE_END_OF_RECORDS;
  const std::size_t used = without_end + 1;
  longpole_chunk header = *chunk;
  header.used = static_cast<std::uint32_t>(sizeof(longpole_chunk) +
                                           count_records(chunk, end) * sizeof(longpole_record));
  header.bytes = static_cast<std::uint32_t>((used + kUnitBytes - 1) / kUnitBytes * kUnitBytes);
  header.form = LONGPOLE_FORM_ENCODED;
  header.encoded_bytes = static_cast<std::uint32_t>(encoder.bytes());
  std::memcpy(scratch, &header, sizeof(header));
  if (used <= kUnitBytes && chunk->unit != 0) {
    copy_to_unit(scratch, used, unit_of(chunk));
  } else if (!write_chunk(scratch, used, header.bytes)) {
    return Emptied::kStopped;
  }
  // While it is being emptied the chunk holds nothing; the copy counts.
  __atomic_store_n(&chunk->form, LONGPOLE_FORM_NOTHING, __ATOMIC_RELEASE);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  for_each_page(chunk, end, [](longpole_record* first, const longpole_record* page_end) {
    for (longpole_record* record = first; record != page_end; ++record) {
      __atomic_store_n(last_word_of(record), 0, __ATOMIC_RELAXED);
    }
  });
  return Emptied::kYes;
}

}  // namespace

void* map_memory(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
    return nullptr;
  }
  return memory;
}

void unmap_memory(void* memory, std::size_t bytes) {
  if (memory != nullptr) {
    munmap(memory, bytes);
  }
}

longpole_chunk* make_chunk(std::uint32_t thread, std::uint32_t sequence, std::uint32_t creator,
                           std::uint64_t start_function) {
  const std::uint32_t bytes = sequence == 0 ? kFirstChunkBytes : kChunkBytes;
  longpole_chunk* chunk = take_free(bytes);
  if (chunk == nullptr) {
    chunk = map_chunk(bytes);
  }
  // Those that nobody created are few, the main thread above all: what they leave behind may be written.
  const bool has_unit = sequence == 0 && creator != UINT32_MAX;
  longpole_chunk* const unit = chunk != nullptr && has_unit ? map_chunk(kUnitBytes) : nullptr;
  if (chunk == nullptr || (has_unit && unit == nullptr)) {
    return nullptr;
  }
  chunk->unit = reinterpret_cast<std::uintptr_t>(unit);
  chunk->thread = thread;
  chunk->sequence = sequence;
  chunk->tid = 0;
  chunk->used = 0;
  chunk->start_function = start_function;
  chunk->creator = creator;
  chunk->handle = 0;
  __atomic_store_n(&chunk->form, LONGPOLE_FORM_RECORDS, __ATOMIC_RELEASE);
  return chunk;
}

struct Scratch {
  alignas(longpole_chunk) unsigned char chunk[kScratchBytes];
  EncodingPlaces places;
};

Scratch* make_scratch() {
  return static_cast<Scratch*>(map_memory(sizeof(Scratch)));
}

void* memory_of(Scratch* scratch) {
  return scratch->chunk;
}

Emptied empty_chunk(longpole_chunk* chunk, Scratch* scratch) {
  if (chunk->bytes != kChunkBytes) {
    return Emptied::kNo;
  }
  constexpr std::size_t kRecords =
      kChunkBytes / kPageBytes * ((kPageBytes - kFirstSlot) / sizeof(longpole_record));
  static_assert(longest_encoded(kRecords) <= LONGPOLE_LARGEST_CHUNK);
  const Emptied emptied = move_away(chunk, reinterpret_cast<std::uintptr_t>(chunk) + kChunkBytes,
                                    scratch->places, scratch->chunk);
  if (emptied == Emptied::kYes) {
    ++chunk->sequence;
    __atomic_store_n(&chunk->form, LONGPOLE_FORM_RECORDS, __ATOMIC_RELEASE);
  }
  return emptied;
}

void retire_chunk(longpole_chunk* chunk, std::uintptr_t end) {
  chunk->used = static_cast<std::uint32_t>(end - reinterpret_cast<std::uintptr_t>(chunk));
  const bool are_few = longest_encoded(count_records(chunk, end)) <= kPageBytes;
  Emptied emptied = Emptied::kNo;
  if (EndRoom* const room = are_few ? take_end_room() : nullptr; room != nullptr) {
    emptied = move_away(chunk, end, room->places, room->page);
    __atomic_clear(&room->is_taken, __ATOMIC_RELEASE);
  }
  release_unit(chunk);
  if (emptied != Emptied::kYes || !keep(chunk)) {
    unmap_chunk(chunk);
  }
}

void give_up_chunk(longpole_chunk* chunk) {
  if (chunk != nullptr) {
    release_unit(chunk);
    unmap_chunk(chunk);
  }
}

void forget_free_chunks() {
  for (EndRoom& room : end_rooms) {
    room.is_taken = false;  // by a thread that there is none of here
  }
  for (const std::uint32_t bytes : {kFirstChunkBytes, kChunkBytes}) {
    while (longpole_chunk* chunk = take_free(bytes)) {
      forget_chunk(chunk);
    }
  }
  forget_mapped_chunks();
}

void unmap_scratch(Scratch* scratch) {
  unmap_memory(scratch, sizeof(Scratch));
}

}  // namespace longpole::recorder
