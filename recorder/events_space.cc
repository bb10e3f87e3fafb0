#include "events_space.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>

#include "process.h"
#include "run_directory.h"
#include "taken_in_turn.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace longpole::recorder {

namespace {

int descriptor_or_stop() {
  const int descriptor = events_descriptor();
  if (descriptor < 0) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
  }
  return descriptor;
}

// Where nothing else is mapped, at a multiple of its length. Null: nowhere.
void* map_aligned(int descriptor, std::int64_t offset) {
  constexpr std::size_t kReserved = 2 * kChunkBytes;
  void* reserved =
      mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    return nullptr;
  }
  const auto low = reinterpret_cast<std::uintptr_t>(reserved);
  const std::uintptr_t start = (low + kPlaceInChunk) & ~kPlaceInChunk;
  const std::uintptr_t end = start + kChunkBytes;
  void* memory = mmap(reinterpret_cast<void*>(start), kChunkBytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, descriptor, offset);
  if (memory == MAP_FAILED) {
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
  return memory;
}

// Written to a file, pages are in memory, and there is space for them. Of those that are reserved alone (posix_fallocate) the
// kernel reads each when it is mapped, and looks for others around it: 90 us for 32 KiB on ext4, in place of 10.
unsigned char zeros[kChunkBytes];

// `memory` maps so much of the file.
bool make_ready(unsigned char* memory, std::int64_t offset, std::size_t bytes) {
  if (!write_to_events(zeros, bytes, offset)) {
    return false;
  }
  // A kernel before 5.14 does not know the advice; the first touch of each page costs more then.
  if (madvise(memory, bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
    return false;
  }
  return true;
}

// What of a chunk of kChunkBytes is made ready at once: most threads need no more of it.
constexpr std::size_t kReadyAtOnce = 2 * kPageBytes;

// So that whoever looks from chunk to chunk need not wait for one there.
bool say_that_nobody_is_there(std::int64_t offset, std::uint32_t bytes) {
  longpole_chunk nobody{};
  nobody.form = LONGPOLE_FORM_NOTHING;
  nobody.bytes = bytes;
  return write_to_events(&nobody, sizeof(nobody), offset);
}

// From the next multiple of `alignment`.
std::int64_t claim(std::uint32_t bytes, std::uint32_t alignment) {
  longpole_control& shared = control();
  const std::uint32_t units = bytes / kUnitBytes;
  const std::uint32_t whole = alignment / kUnitBytes;
  std::uint32_t next = __atomic_load_n(&shared.next_unit, __ATOMIC_RELAXED);
  std::uint32_t unit;
  do {
    unit = (next + whole - 1) / whole * whole;
    if (unit > shared.max_units || shared.max_units - unit < units) {
      stop_recording(LONGPOLE_STOP_TOO_MANY_UNITS, 0);
      return -1;
    }
  } while (!__atomic_compare_exchange_n(&shared.next_unit, &next, unit + units, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  const std::int64_t offset = std::int64_t{unit} * kUnitBytes;
  if (!file_may_reach(static_cast<std::uint64_t>(offset) + bytes)) {
    stop_recording(LONGPOLE_STOP_NO_SPACE, EFBIG);
    return -1;
  }
  if (unit != next &&
      !say_that_nobody_is_there(std::int64_t{next} * kUnitBytes, (unit - next) * kUnitBytes)) {
    return -1;
  }
  return offset;
}

// kChunkBytes of the file in memory, as chunks of `bytes` each.
std::uintptr_t map_chunks(std::uint32_t bytes) {
  const std::int64_t offset = claim(kChunkBytes, kPageBytes);
  const int descriptor = offset >= 0 ? descriptor_or_stop() : -1;
  if (descriptor < 0) {
    return 0;
  }
  auto* const memory = static_cast<unsigned char*>(map_aligned(descriptor, offset));
  if (memory == nullptr) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
    return 0;
  }
  if (!make_ready(memory, offset, bytes == kChunkBytes ? kReadyAtOnce : kChunkBytes)) {
    munmap(memory, kChunkBytes);
    return 0;
  }
  for (std::uint32_t at = 0; at < kChunkBytes; at += bytes) {
    auto* const chunk = reinterpret_cast<longpole_chunk*>(memory + at);
    chunk->offset = static_cast<std::uint64_t>(offset) + at;
    chunk->ready = bytes == kChunkBytes ? kReadyAtOnce : bytes;
    chunk->form = LONGPOLE_FORM_NOTHING;
    __atomic_store_n(&chunk->bytes, bytes, __ATOMIC_RELEASE);
  }
  return reinterpret_cast<std::uintptr_t>(memory);
}

// Of those that are shorter than kChunkBytes, as to map one costs as much as to map so much.
template <std::size_t kBytes, std::size_t kCount>
longpole_chunk* take_from(TakenInTurn<kBytes, kCount>& mapped) {
  static_assert(kBytes * kCount == kChunkBytes);
  const std::uintptr_t chunk = mapped.take(
      [] { return map_chunks(kBytes); },
      [](std::uintptr_t fresh) { munmap(reinterpret_cast<void*>(fresh), kChunkBytes); });
  return reinterpret_cast<longpole_chunk*>(chunk);
}

TakenInTurn<kPageBytes, kChunkBytes / kPageBytes> mapped_pages;
TakenInTurn<kUnitBytes, kChunkBytes / kUnitBytes> mapped_units;

}  // namespace

std::int64_t claim_bytes(std::uint32_t bytes) {
  return claim(bytes, kUnitBytes);
}

bool write_to_events(const void* data, std::size_t bytes, std::int64_t offset) {
  const int descriptor = descriptor_or_stop();
  if (descriptor < 0) {
    return false;
  }
  const auto* rest = static_cast<const char*>(data);
  while (bytes > 0) {
    // Not by a function that a sanitizer may have in place of libc's: see plain_memory.h.
    const ssize_t written = syscall(SYS_pwrite64, descriptor, rest, bytes, offset);
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

longpole_chunk* map_chunk(std::uint32_t bytes) {
  switch (bytes) {
    case kUnitBytes:
      return take_from(mapped_units);
    case kPageBytes:
      return take_from(mapped_pages);
    default:
      return reinterpret_cast<longpole_chunk*>(map_chunks(kChunkBytes));
  }
}

bool make_more_ready(longpole_chunk* chunk) {
  if (!make_ready(reinterpret_cast<unsigned char*>(chunk) + chunk->ready,
                  static_cast<std::int64_t>(chunk->offset + chunk->ready), kReadyAtOnce)) {
    return false;
  }
  chunk->ready += kReadyAtOnce;
  return true;
}

// The first of those that were mapped together counts.
void unmap_chunk(longpole_chunk* chunk) {
  if (chunk == nullptr) {
    return;
  }
  const std::uint32_t mapped_together = kChunkBytes / chunk->bytes;
  auto* const first =
      reinterpret_cast<longpole_chunk*>(reinterpret_cast<std::uintptr_t>(chunk) & ~kPlaceInChunk);
  if (__atomic_add_fetch(&first->released, 1, __ATOMIC_ACQ_REL) == mapped_together) {
    munmap(first, kChunkBytes);
  }
}

// What others of its parent's have beside it stays mapped.
void forget_chunk(longpole_chunk* chunk) {
  if (chunk != nullptr && chunk->bytes == kChunkBytes) {
    munmap(chunk, kChunkBytes);
  }
}

void forget_mapped_chunks() {
  mapped_pages.forget();
  mapped_units.forget();
}

}  // namespace longpole::recorder
