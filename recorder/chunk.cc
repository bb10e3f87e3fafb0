#include "chunk.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "encode_records.h"
#include "next_definition.h"
#include "process.h"
#include "run_directory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

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

// Where a new chunk begins in the file, or -1.
std::int64_t claim_bytes(std::uint32_t bytes) {
  longpole_control& shared = control();
  const std::uint32_t units = bytes / LONGPOLE_UNIT_BYTES;
  const std::uint32_t unit = __atomic_fetch_add(&shared.next_unit, units, __ATOMIC_RELAXED);
  if (unit > shared.max_units || shared.max_units - unit < units) {
    stop_recording(LONGPOLE_STOP_TOO_MANY_UNITS, 0);
    return -1;
  }
  const std::int64_t offset = std::int64_t{unit} * LONGPOLE_UNIT_BYTES;
  if (!file_may_reach(static_cast<std::uint64_t>(offset) + bytes)) {
    stop_recording(LONGPOLE_STOP_NO_SPACE, EFBIG);
    return -1;
  }
  return offset;
}

int descriptor_or_stop() {
  const int descriptor = events_descriptor();
  if (descriptor < 0) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
  }
  return descriptor;
}

void* map_aligned(int descriptor, std::int64_t offset) {
  constexpr std::size_t kReserved = 2 * kChunkBytes;
  void* reserved =
      mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    return nullptr;
  }
  const auto low = reinterpret_cast<std::uintptr_t>(reserved);
  const std::uintptr_t start = (low + kChunkBytes - 1) & ~std::uintptr_t{kChunkBytes - 1};
  const std::uintptr_t end = start + kChunkBytes;
  void* chunk = mmap(reinterpret_cast<void*>(start), kChunkBytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED, descriptor, offset);
  // A kernel before 5.14 does not know the advice; the first touch of each page costs more then.
  if (chunk == MAP_FAILED ||
      (madvise(chunk, kChunkBytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL)) {
    const int error = errno;
    munmap(reserved, kReserved);
    errno = error;
    return nullptr;
  }
  if (start > low) {
    munmap(reserved, start - low);
  }
  if (end < low + kReserved) {
    munmap(reinterpret_cast<void*>(end), low + kReserved - end);
  }
  return chunk;
}

// Written to a file, pages are in memory, and there is space for them. Of those that are reserved alone (posix_fallocate) the
// kernel reads each when it is mapped, and looks for others around it: 90 us a chunk on ext4, in place of 10.
unsigned char zeros[kChunkBytes];

bool write_all(int descriptor, const void* data, std::size_t bytes, std::int64_t offset) {
  const auto* rest = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = next().pwrite(descriptor, rest, bytes, offset);
    if (written <= 0) {
      stop_recording(LONGPOLE_STOP_NO_SPACE, written == 0 ? ENOSPC : errno);
      return false;
    }
    rest += written;
    bytes -= static_cast<std::size_t>(written);
    offset += written;
  }
  return true;
}

longpole_chunk* map_new_chunk() {
  const std::int64_t offset = claim_bytes(kChunkBytes);
  const int descriptor = offset < 0 ? -1 : descriptor_or_stop();
  if (descriptor < 0 || !write_all(descriptor, zeros, kChunkBytes, offset)) {
    return nullptr;
  }
  void* mapping = map_aligned(descriptor, offset);
  if (mapping == nullptr) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
  }
  return static_cast<longpole_chunk*>(mapping);
}

// Those of threads that have ended, for others: to map one takes longer than all that a short thread does. Without a lock; whoever
// takes one out of its place has it alone.
longpole_chunk* free_chunks[64];

longpole_chunk* take_free_chunk() {
  for (longpole_chunk*& place : free_chunks) {
    if (__atomic_load_n(&place, __ATOMIC_RELAXED) != nullptr) {
      if (longpole_chunk* chunk = __atomic_exchange_n(&place, nullptr, __ATOMIC_ACQUIRE);
          chunk != nullptr) {
        return chunk;
      }
    }
  }
  return nullptr;
}

bool keep_free_chunk(longpole_chunk* chunk) {
  for (longpole_chunk*& place : free_chunks) {
    longpole_chunk* nobody = nullptr;
    if (__atomic_compare_exchange_n(&place, &nobody, chunk, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED)) {
      return true;
    }
  }
  return false;
}

// For the chunks of threads that end, whose stacks may be the smallest that there are. When more end at once, the others map
// their own.
struct EndRoom {
  EncodingPlaces places;
  unsigned char page[LONGPOLE_UNIT_BYTES];
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

// The first `records` of a chunk, all that it has, go to one that is written, through `scratch`; it holds nothing then.
Emptied move_away(longpole_chunk* chunk, std::size_t records, EncodingPlaces& places,
                  unsigned char* scratch) {
  const auto* first = reinterpret_cast<const longpole_record*>(
      reinterpret_cast<const unsigned char*>(chunk) + kFirstSlot);
  const std::size_t encoded =
      encode_records(first, first + records, places, scratch + sizeof(longpole_chunk));
  if (encoded == 0) {
    return Emptied::kNo;
  }
  const std::size_t used = sizeof(longpole_chunk) + encoded;
  longpole_chunk header = *chunk;
  header.used =
      static_cast<std::uint32_t>(sizeof(longpole_chunk) + records * sizeof(longpole_record));
  header.bytes = static_cast<std::uint32_t>((used + LONGPOLE_UNIT_BYTES - 1) / LONGPOLE_UNIT_BYTES *
                                            LONGPOLE_UNIT_BYTES);
  // SIGKILL does not come in the middle of a page that is written. Otherwise the form comes last, so
  // that half a copy does not count.
  const bool at_once = used <= LONGPOLE_UNIT_BYTES;
  header.form = at_once ? LONGPOLE_FORM_ENCODED : LONGPOLE_FORM_NOTHING;
  header.encoded_bytes = static_cast<std::uint32_t>(encoded);
  std::memcpy(scratch, &header, sizeof(header));
  const std::int64_t offset = claim_bytes(header.bytes);
  const int descriptor = offset < 0 ? -1 : descriptor_or_stop();
  if (descriptor < 0) {
    return Emptied::kStopped;
  }
  if (!write_all(descriptor, scratch, used, offset)) {
    return Emptied::kStopped;
  }
  const std::uint32_t form = LONGPOLE_FORM_ENCODED;
  if (!at_once && !write_all(descriptor, &form, sizeof(form),
                             offset + static_cast<std::int64_t>(offsetof(longpole_chunk, form)))) {
    return Emptied::kStopped;
  }
  // While it is being emptied the chunk holds nothing; the copy counts.
  __atomic_store_n(&chunk->form, LONGPOLE_FORM_NOTHING, __ATOMIC_RELEASE);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  std::memset(chunk + 1, 0,
              kFirstSlot - sizeof(longpole_chunk) + records * sizeof(longpole_record));
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
  longpole_chunk* chunk = take_free_chunk();
  if (chunk == nullptr) {
    chunk = map_new_chunk();
  }
  if (chunk == nullptr) {
    return nullptr;
  }
  chunk->thread = thread;
  chunk->sequence = sequence;
  chunk->tid = 0;
  chunk->used = 0;
  chunk->start_function = start_function;
  chunk->creator = creator;
  chunk->handle = 0;
  __atomic_store_n(&chunk->bytes, kChunkBytes, __ATOMIC_RELEASE);
  __atomic_store_n(&chunk->form, LONGPOLE_FORM_RECORDS, __ATOMIC_RELEASE);
  return chunk;
}

struct Scratch {
  unsigned char chunk[LONGPOLE_LARGEST_CHUNK];
  EncodingPlaces places;
};

Scratch* make_scratch() {
  return static_cast<Scratch*>(map_memory(sizeof(Scratch)));
}

Emptied empty_chunk(longpole_chunk* chunk, Scratch* scratch) {
  constexpr std::size_t kRecords = (kChunkBytes - kFirstSlot) / sizeof(longpole_record);
  static_assert(sizeof(longpole_chunk) + kRecords * kLongestEncoding <= LONGPOLE_LARGEST_CHUNK);
  const Emptied emptied = move_away(chunk, kRecords, scratch->places, scratch->chunk);
  if (emptied == Emptied::kYes) {
    ++chunk->sequence;
    __atomic_store_n(&chunk->form, LONGPOLE_FORM_RECORDS, __ATOMIC_RELEASE);
  }
  return emptied;
}

void retire_chunk(longpole_chunk* chunk, std::size_t records) {
  const bool are_few = sizeof(longpole_chunk) + records * kLongestEncoding <= LONGPOLE_UNIT_BYTES;
  Emptied emptied = Emptied::kNo;
  if (EndRoom* const room = are_few ? take_end_room() : nullptr; room != nullptr) {
    emptied = move_away(chunk, records, room->places, room->page);
    __atomic_clear(&room->is_taken, __ATOMIC_RELEASE);
  } else if (Scratch* const scratch = are_few ? make_scratch() : nullptr; scratch != nullptr) {
    emptied = move_away(chunk, records, scratch->places, scratch->chunk);
    unmap_scratch(scratch);
  }
  if (emptied != Emptied::kYes || !keep_free_chunk(chunk)) {
    unmap_chunk(chunk);
  }
}

void forget_free_chunks() {
  for (EndRoom& room : end_rooms) {
    room.is_taken = false;  // by a thread that there is none of here
  }
  while (longpole_chunk* chunk = take_free_chunk()) {
    unmap_chunk(chunk);
  }
}

void unmap_chunk(longpole_chunk* chunk) {
  if (chunk != nullptr) {
    munmap(chunk, kChunkBytes);
  }
}

void unmap_scratch(Scratch* scratch) {
  unmap_memory(scratch, sizeof(Scratch));
}

}  // namespace longpole::recorder
