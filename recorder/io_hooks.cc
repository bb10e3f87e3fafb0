// Input and output that may wait. What a thread sleeps in such a call is charged to the line of it. Whom it
// waits for is known of channels within the program: see channel_hooks.cc.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cerrno>
#include <cstdarg>
#include <new>

#include "connections.h"
#include "next_definition.h"
#include "own_signals_in_sets.h"
#include "sampling.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

constexpr int kSeveral = -1;  // descriptors, or none yet

// Not inlined into sixty hooks: a system call costs far more than a call.
class IoCall {
 public:
  __attribute__((noinline)) IoCall(longpole_io way, int descriptor, const void* site)
      : site_(site) {
    record_begins(
        {LONGPOLE_IO, reinterpret_cast<const void*>(static_cast<std::intptr_t>(descriptor)), site},
        way);
    new (&held_back_) SamplingHeldBack;
  }
  ~IoCall() {}
  IoCall(const IoCall&) = delete;
  IoCall& operator=(const IoCall&) = delete;

  // Once, with errno as the call left it.
  __attribute__((noinline)) void end(std::int64_t result) {
    held_back_.~SamplingHeldBack();
    const std::int64_t moved = result < 0 ? 0 : result;
    record_returns({LONGPOLE_IO, reinterpret_cast<const void*>(moved), site_},
                   result < 0 ? errno : 0);
  }

 private:
  const void* site_;
  union {
    SamplingHeldBack held_back_;  // from before the call until end()
  };
};

__attribute__((noinline)) const NextDefinitions& unrecorded() {
  return next();
}

// `kNext`: the member of NextDefinitions to do it with.
template <auto kNext, longpole_io kWay, typename... Arguments>
inline auto do_io(int descriptor, const void* site, Arguments... arguments) {
  if (!recording()) [[unlikely]] {
    return (unrecorded().*kNext)(arguments...);
  }
  IoCall call(kWay, descriptor, site);
  const auto result = (resolved_next.*kNext)(arguments...);
  call.end(result);
  return result;
}

int connected(int descriptor, const void* site) {
  record_connection(descriptor, site);
  return descriptor;
}

constexpr bool has_permissions(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

#define LONGPOLE_IO_CALL(way, name, descriptor, ...) \
  return do_io<&NextDefinitions::name, LONGPOLE_IO_##way>(descriptor, LONGPOLE_SITE(), __VA_ARGS__)

LONGPOLE_HOOK ssize_t read(int file, void* data, size_t bytes) {
  LONGPOLE_IO_CALL(READS, read, file, file, data, bytes);
}
LONGPOLE_HOOK ssize_t write(int file, const void* data, size_t bytes) {
  LONGPOLE_IO_CALL(WRITES, write, file, file, data, bytes);
}
LONGPOLE_HOOK ssize_t pread(int file, void* data, size_t bytes, off_t offset) {
  LONGPOLE_IO_CALL(READS, pread, file, file, data, bytes, offset);
}
LONGPOLE_HOOK ssize_t pread64(int file, void* data, size_t bytes, off64_t offset) {
  LONGPOLE_IO_CALL(READS, pread64, file, file, data, bytes, offset);
}
LONGPOLE_HOOK ssize_t pwrite(int file, const void* data, size_t bytes, off_t offset) {
  LONGPOLE_IO_CALL(WRITES, pwrite, file, file, data, bytes, offset);
}
LONGPOLE_HOOK ssize_t pwrite64(int file, const void* data, size_t bytes, off64_t offset) {
  LONGPOLE_IO_CALL(WRITES, pwrite64, file, file, data, bytes, offset);
}
LONGPOLE_HOOK ssize_t readv(int file, const iovec* parts, int count) {
  LONGPOLE_IO_CALL(READS, readv, file, file, parts, count);
}
LONGPOLE_HOOK ssize_t writev(int file, const iovec* parts, int count) {
  LONGPOLE_IO_CALL(WRITES, writev, file, file, parts, count);
}
LONGPOLE_HOOK ssize_t preadv(int file, const iovec* parts, int count, off_t offset) {
  LONGPOLE_IO_CALL(READS, preadv, file, file, parts, count, offset);
}
LONGPOLE_HOOK ssize_t preadv64(int file, const iovec* parts, int count, off64_t offset) {
  LONGPOLE_IO_CALL(READS, preadv64, file, file, parts, count, offset);
}
LONGPOLE_HOOK ssize_t preadv2(int file, const iovec* parts, int count, off_t offset, int flags) {
  LONGPOLE_IO_CALL(READS, preadv2, file, file, parts, count, offset, flags);
}
LONGPOLE_HOOK ssize_t preadv64v2(int file, const iovec* parts, int count, off64_t offset,
                                 int flags) {
  LONGPOLE_IO_CALL(READS, preadv64v2, file, file, parts, count, offset, flags);
}
LONGPOLE_HOOK ssize_t pwritev(int file, const iovec* parts, int count, off_t offset) {
  LONGPOLE_IO_CALL(WRITES, pwritev, file, file, parts, count, offset);
}
LONGPOLE_HOOK ssize_t pwritev64(int file, const iovec* parts, int count, off64_t offset) {
  LONGPOLE_IO_CALL(WRITES, pwritev64, file, file, parts, count, offset);
}
LONGPOLE_HOOK ssize_t pwritev2(int file, const iovec* parts, int count, off_t offset, int flags) {
  LONGPOLE_IO_CALL(WRITES, pwritev2, file, file, parts, count, offset, flags);
}
LONGPOLE_HOOK ssize_t pwritev64v2(int file, const iovec* parts, int count, off64_t offset,
                                  int flags) {
  LONGPOLE_IO_CALL(WRITES, pwritev64v2, file, file, parts, count, offset, flags);
}

// From one descriptor to another: a file that is read is seldom waited for.
LONGPOLE_HOOK ssize_t sendfile(int to, int from, off_t* offset, size_t bytes) noexcept {
  LONGPOLE_IO_CALL(WRITES, sendfile, to, to, from, offset, bytes);
}
LONGPOLE_HOOK ssize_t sendfile64(int to, int from, off64_t* offset, size_t bytes) noexcept {
  LONGPOLE_IO_CALL(WRITES, sendfile64, to, to, from, offset, bytes);
}
LONGPOLE_HOOK ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset,
                                      size_t bytes, unsigned flags) {
  LONGPOLE_IO_CALL(WRITES, copy_file_range, to, from, from_offset, to, to_offset, bytes, flags);
}
LONGPOLE_HOOK ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset,
                             size_t bytes, unsigned flags) {
  LONGPOLE_IO_CALL(READS, splice, from, from, from_offset, to, to_offset, bytes, flags);
}
LONGPOLE_HOOK ssize_t vmsplice(int file, const iovec* parts, size_t count, unsigned flags) {
  LONGPOLE_IO_CALL(WRITES, vmsplice, file, file, parts, count, flags);
}

LONGPOLE_HOOK int fsync(int file) {
  LONGPOLE_IO_CALL(OTHER, fsync, file, file);
}
LONGPOLE_HOOK int fdatasync(int file) {
  LONGPOLE_IO_CALL(OTHER, fdatasync, file, file);
}
LONGPOLE_HOOK int close(int file) {
  LONGPOLE_IO_CALL(CLOSES, close, file, file);
}

// What takes the permissions of a new file only where it makes one: without, nobody reads them.
#define LONGPOLE_PERMISSIONS(flags)          \
  mode_t permissions = 0;                    \
  if (has_permissions(flags)) {              \
    va_list arguments;                       \
    va_start(arguments, flags);              \
    permissions = va_arg(arguments, mode_t); \
    va_end(arguments);                       \
  }

LONGPOLE_HOOK int open(const char* path, int flags, ...) {
  LONGPOLE_PERMISSIONS(flags)
  LONGPOLE_IO_CALL(OPENS, open, kSeveral, path, flags, permissions);
}
LONGPOLE_HOOK int open64(const char* path, int flags, ...) {
  LONGPOLE_PERMISSIONS(flags)
  LONGPOLE_IO_CALL(OPENS, open64, kSeveral, path, flags, permissions);
}
LONGPOLE_HOOK int openat(int directory, const char* path, int flags, ...) {
  LONGPOLE_PERMISSIONS(flags)
  LONGPOLE_IO_CALL(OPENS, openat, kSeveral, directory, path, flags, permissions);
}
LONGPOLE_HOOK int openat64(int directory, const char* path, int flags, ...) {
  LONGPOLE_PERMISSIONS(flags)
  LONGPOLE_IO_CALL(OPENS, openat64, kSeveral, directory, path, flags, permissions);
}

LONGPOLE_HOOK int accept(int socket, sockaddr* address, socklen_t* length) {
  return connected(do_io<&NextDefinitions::accept, LONGPOLE_IO_OPENS>(socket, LONGPOLE_SITE(),
                                                                      socket, address, length),
                   LONGPOLE_SITE());
}
LONGPOLE_HOOK int accept4(int socket, sockaddr* address, socklen_t* length, int flags) {
  return connected(do_io<&NextDefinitions::accept4, LONGPOLE_IO_OPENS>(
                       socket, LONGPOLE_SITE(), socket, address, length, flags),
                   LONGPOLE_SITE());
}
LONGPOLE_HOOK int connect(int socket, const sockaddr* address, socklen_t length) {
  const int result = do_io<&NextDefinitions::connect, LONGPOLE_IO_OTHER>(socket, LONGPOLE_SITE(),
                                                                         socket, address, length);
  // One that does not wait has both addresses as well.
  record_connection(socket, LONGPOLE_SITE());
  return result;
}
LONGPOLE_HOOK ssize_t send(int socket, const void* data, size_t bytes, int flags) {
  LONGPOLE_IO_CALL(WRITES, send, socket, socket, data, bytes, flags);
}
LONGPOLE_HOOK ssize_t sendto(int socket, const void* data, size_t bytes, int flags,
                             const sockaddr* address, socklen_t length) {
  LONGPOLE_IO_CALL(WRITES, sendto, socket, socket, data, bytes, flags, address, length);
}
LONGPOLE_HOOK ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  LONGPOLE_IO_CALL(WRITES, sendmsg, socket, socket, message, flags);
}
LONGPOLE_HOOK ssize_t recv(int socket, void* data, size_t bytes, int flags) {
  LONGPOLE_IO_CALL(READS, recv, socket, socket, data, bytes, flags);
}
LONGPOLE_HOOK ssize_t recvfrom(int socket, void* data, size_t bytes, int flags, sockaddr* address,
                               socklen_t* length) {
  LONGPOLE_IO_CALL(READS, recvfrom, socket, socket, data, bytes, flags, address, length);
}
LONGPOLE_HOOK ssize_t recvmsg(int socket, msghdr* message, int flags) {
  LONGPOLE_IO_CALL(READS, recvmsg, socket, socket, message, flags);
}

// They answer with a number of messages.
LONGPOLE_HOOK int sendmmsg(int socket, mmsghdr* messages, unsigned count, int flags) {
  LONGPOLE_IO_CALL(OTHER, sendmmsg, socket, socket, messages, count, flags);
}
LONGPOLE_HOOK int recvmmsg(int socket, mmsghdr* messages, unsigned count, int flags,
                           timespec* timeout) {
  LONGPOLE_IO_CALL(OTHER, recvmmsg, socket, socket, messages, count, flags, timeout);
}

LONGPOLE_HOOK int poll(pollfd* files, nfds_t count, int timeout) {
  LONGPOLE_IO_CALL(OTHER, poll, kSeveral, files, count, timeout);
}
LONGPOLE_HOOK int ppoll(pollfd* files, nfds_t count, const timespec* timeout,
                        const sigset_t* signals) {
  LONGPOLE_IO_CALL(OTHER, ppoll, kSeveral, files, count, timeout, WithOwnSignals(signals).get());
}
LONGPOLE_HOOK int select(int count, fd_set* read, fd_set* write, fd_set* other, timeval* timeout) {
  LONGPOLE_IO_CALL(OTHER, select, kSeveral, count, read, write, other, timeout);
}
LONGPOLE_HOOK int pselect(int count, fd_set* read, fd_set* write, fd_set* other,
                          const timespec* timeout, const sigset_t* signals) {
  LONGPOLE_IO_CALL(OTHER, pselect, kSeveral, count, read, write, other, timeout,
                   WithOwnSignals(signals).get());
}
LONGPOLE_HOOK int epoll_wait(int set, epoll_event* events, int most, int timeout) {
  LONGPOLE_IO_CALL(OTHER, epoll_wait, set, set, events, most, timeout);
}
LONGPOLE_HOOK int epoll_pwait(int set, epoll_event* events, int most, int timeout,
                              const sigset_t* signals) {
  LONGPOLE_IO_CALL(OTHER, epoll_pwait, set, set, events, most, timeout,
                   WithOwnSignals(signals).get());
}
LONGPOLE_HOOK int epoll_pwait2(int set, epoll_event* events, int most, const timespec* timeout,
                               const sigset_t* signals) {
  LONGPOLE_IO_CALL(OTHER, epoll_pwait2, set, set, events, most, timeout,
                   WithOwnSignals(signals).get());
}

LONGPOLE_HOOK ssize_t msgrcv(int queue, void* message, size_t bytes, long type, int flags) {
  LONGPOLE_IO_CALL(OTHER, msgrcv, kSeveral, queue, message, bytes, type, flags);
}
LONGPOLE_HOOK int msgsnd(int queue, const void* message, size_t bytes, int flags) {
  LONGPOLE_IO_CALL(OTHER, msgsnd, kSeveral, queue, message, bytes, flags);
}
LONGPOLE_HOOK int semop(int semaphores, sembuf* operations, size_t count) noexcept {
  LONGPOLE_IO_CALL(OTHER, semop, kSeveral, semaphores, operations, count);
}
LONGPOLE_HOOK int semtimedop(int semaphores, sembuf* operations, size_t count,
                             const timespec* timeout) noexcept {
  LONGPOLE_IO_CALL(OTHER, semtimedop, kSeveral, semaphores, operations, count, timeout);
}
// It answers with a negative number, and leaves errno alone.
LONGPOLE_HOOK int io_getevents(void* context, long least, long most, void* events,
                               timespec* timeout) {
  LONGPOLE_IO_CALL(OTHER, io_getevents, kSeveral, context, least, most, events, timeout);
}

// What the headers call under _FORTIFY_SOURCE.
LONGPOLE_HOOK ssize_t __read_chk(int file, void* data, size_t bytes, size_t room) {
  LONGPOLE_IO_CALL(READS, __read_chk, file, file, data, bytes, room);
}
LONGPOLE_HOOK ssize_t __pread_chk(int file, void* data, size_t bytes, off_t offset, size_t room) {
  LONGPOLE_IO_CALL(READS, __pread_chk, file, file, data, bytes, offset, room);
}
LONGPOLE_HOOK ssize_t __pread64_chk(int file, void* data, size_t bytes, off64_t offset,
                                    size_t room) {
  LONGPOLE_IO_CALL(READS, __pread64_chk, file, file, data, bytes, offset, room);
}
LONGPOLE_HOOK ssize_t __recv_chk(int socket, void* data, size_t bytes, size_t room, int flags) {
  LONGPOLE_IO_CALL(READS, __recv_chk, socket, socket, data, bytes, room, flags);
}
LONGPOLE_HOOK ssize_t __recvfrom_chk(int socket, void* data, size_t bytes, size_t room, int flags,
                                     sockaddr* address, socklen_t* length) {
  LONGPOLE_IO_CALL(READS, __recvfrom_chk, socket, socket, data, bytes, room, flags, address,
                   length);
}
LONGPOLE_HOOK int __poll_chk(pollfd* files, nfds_t count, int timeout, size_t room) {
  LONGPOLE_IO_CALL(OTHER, __poll_chk, kSeveral, files, count, timeout, room);
}
LONGPOLE_HOOK int __ppoll_chk(pollfd* files, nfds_t count, const timespec* timeout,
                              const sigset_t* signals, size_t room) {
  LONGPOLE_IO_CALL(OTHER, __ppoll_chk, kSeveral, files, count, timeout,
                   WithOwnSignals(signals).get(), room);
}
LONGPOLE_HOOK int __open_2(const char* path, int flags) {
  LONGPOLE_IO_CALL(OPENS, __open_2, kSeveral, path, flags);
}
LONGPOLE_HOOK int __open64_2(const char* path, int flags) {
  LONGPOLE_IO_CALL(OPENS, __open64_2, kSeveral, path, flags);
}
