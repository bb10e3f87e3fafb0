#include "chunk.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>

#include "process.h"
#include "thread_log.h"

namespace longpole::recorder {

SignalsBlocked::SignalsBlocked() : mask_before_(0), errno_before_(errno) {
  // Not through sigprocmask: it would leave out the two signals by which glibc cancels threads.
  const std::uint64_t all = ~std::uint64_t{0};
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask_before_, sizeof(all));
}

SignalsBlocked::~SignalsBlocked() {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask_before_, nullptr, sizeof(mask_before_));
  errno = errno_before_;
}

namespace {

// Growing a file over the limit would not only fail: it would send SIGXFSZ to the program.
bool file_may_reach(std::uint64_t bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

void* map_at_end_of_frame(int descriptor, std::uint64_t offset, std::uint32_t bytes) {
  constexpr std::size_t kReserved = 2 * LONGPOLE_CHUNK_BYTES;
  void* reserved =
      mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    return nullptr;
  }
  const auto low = reinterpret_cast<std::uintptr_t>(reserved);
  const std::uintptr_t end = (low + kReserved) & ~kFrameMask;
  const std::uintptr_t start = end - bytes;
  void* chunk = mmap(reinterpret_cast<void*>(start), bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED | MAP_POPULATE, descriptor, static_cast<off_t>(offset));
  const int error = errno;
  if (chunk == MAP_FAILED) {
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

}  // namespace

longpole_chunk* make_chunk(std::uint32_t bytes, std::uint32_t thread, std::uint32_t sequence,
                           std::uint32_t creator, std::uint64_t start_function) {
  longpole_control& shared = control();
  const std::uint32_t units = bytes / LONGPOLE_UNIT_BYTES;
  const std::uint32_t unit = __atomic_fetch_add(&shared.next_unit, units, __ATOMIC_RELAXED);
  if (std::uint64_t{unit} + units > shared.max_units) {
    stop_recording(LONGPOLE_STOP_TOO_MANY_UNITS, 0);
    return nullptr;
  }
  const std::uint64_t offset = std::uint64_t{unit} * LONGPOLE_UNIT_BYTES;
  const int descriptor = events_descriptor();
  if (descriptor < 0) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
    return nullptr;
  }
  const int error = file_may_reach(offset + bytes)
                        ? posix_fallocate(descriptor, static_cast<off_t>(offset), bytes)
                        : EFBIG;
  if (error != 0) {
    stop_recording(LONGPOLE_STOP_NO_SPACE, error);
    return nullptr;
  }
  void* mapping = map_at_end_of_frame(descriptor, offset, bytes);
  if (mapping == nullptr) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
    return nullptr;
  }
  auto* chunk = static_cast<longpole_chunk*>(mapping);
  chunk->thread = thread;
  chunk->sequence = sequence;
  chunk->creator = creator;
  chunk->start_function = start_function;
  __atomic_store_n(&chunk->bytes, bytes, __ATOMIC_RELEASE);
  return chunk;
}

void unmap_chunk(longpole_chunk* chunk) {
  if (chunk != nullptr) {
    munmap(chunk, chunk->bytes);
  }
}

std::uintptr_t first_slot(const longpole_chunk* chunk) {
  const std::uintptr_t behind_header = reinterpret_cast<std::uintptr_t>(chunk + 1);
  const std::uintptr_t first_of_frame =
      (reinterpret_cast<std::uintptr_t>(chunk) & ~kFrameMask) + kFirstSlotInFrame;
  return behind_header < first_of_frame ? first_of_frame : behind_header;
}

}  // namespace longpole::recorder
