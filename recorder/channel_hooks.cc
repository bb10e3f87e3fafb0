// Where what threads write is read by other threads: pipes, pairs of sockets, event counters. Which
// descriptors they are is recorded here; the reading and writing is in io_hooks.cc.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <cstdarg>

#include "next_definition.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

constexpr int kNotKnown = 0;

const void* both(int low, int high) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(static_cast<unsigned>(low)) |
                                       static_cast<std::uintptr_t>(static_cast<unsigned>(high))
                                           << 32);
}

void record_channel(int read_from, int written_to, int capacity, const void* site) {
  record_with_other(stamp(), {LONGPOLE_CHANNEL, both(read_from, written_to), site}, 0,
                    capacity > 0 ? static_cast<std::uint64_t>(capacity) : 0, 0);
}

int capacity_of(int descriptor) {
  const int errno_before = errno;
  const int capacity = next().fcntl(descriptor, F_GETPIPE_SZ);
  errno = errno_before;
  return capacity;
}

int recorded_pipe(int result, const int ends[2], const void* site) {
  if (result == 0 && recording()) {
    record_channel(ends[0], ends[1], capacity_of(ends[0]), site);
  }
  return result;
}

int recorded_duplicate(int result, int descriptor, const void* site) {
  if (result >= 0 && recording()) {
    record_with_other(stamp(), {LONGPOLE_DUPLICATE, both(descriptor, result), site}, 0, 0, 0);
  }
  return result;
}

constexpr bool duplicates(int command) {
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

LONGPOLE_HOOK int pipe(int ends[2]) noexcept {
  return recorded_pipe(next().pipe(ends), ends, LONGPOLE_SITE());
}

LONGPOLE_HOOK int pipe2(int ends[2], int flags) noexcept {
  return recorded_pipe(next().pipe2(ends, flags), ends, LONGPOLE_SITE());
}

LONGPOLE_HOOK int socketpair(int domain, int type, int protocol, int ends[2]) noexcept {
  const int result = next().socketpair(domain, type, protocol, ends);
  if (result == 0 && recording()) {
    record_channel(ends[0], ends[1], kNotKnown, LONGPOLE_SITE());
    record_channel(ends[1], ends[0], kNotKnown, LONGPOLE_SITE());
  }
  return result;
}

LONGPOLE_HOOK int eventfd(unsigned value, int flags) noexcept {
  const int result = next().eventfd(value, flags);
  if (result >= 0 && recording()) {
    record_channel(result, result, 0, LONGPOLE_SITE());
  }
  return result;
}

LONGPOLE_HOOK int dup(int descriptor) noexcept {
  return recorded_duplicate(next().dup(descriptor), descriptor, LONGPOLE_SITE());
}

LONGPOLE_HOOK int dup2(int descriptor, int wanted) noexcept {
  return recorded_duplicate(next().dup2(descriptor, wanted), descriptor, LONGPOLE_SITE());
}

LONGPOLE_HOOK int dup3(int descriptor, int wanted, int flags) noexcept {
  return recorded_duplicate(next().dup3(descriptor, wanted, flags), descriptor, LONGPOLE_SITE());
}

// Every command takes one argument or none: what is passed on without need, nobody reads.
#define LONGPOLE_FILE_CONTROL(name)                              \
  va_list arguments;                                             \
  va_start(arguments, command);                                  \
  void* const argument = va_arg(arguments, void*);               \
  va_end(arguments);                                             \
  const int result = next().name(descriptor, command, argument); \
  return duplicates(command) ? recorded_duplicate(result, descriptor, LONGPOLE_SITE()) : result;

LONGPOLE_HOOK int fcntl(int descriptor, int command, ...){LONGPOLE_FILE_CONTROL(fcntl)}

LONGPOLE_HOOK int fcntl64(int descriptor, int command, ...) {
  LONGPOLE_FILE_CONTROL(fcntl64)
}
