#include "connections.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "thread_log.h"

namespace longpole::recorder {
namespace {

struct Address {
  std::uint32_t host = 0;  // of IPv6 the last four bytes
  std::uint16_t port = 0;  // 0: not known, or of no network
};

// `call`: getsockname() or getpeername().
Address address_by(long call, int descriptor) {
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } name;
  socklen_t bytes = sizeof(name);
  if (syscall(call, descriptor, &name, &bytes) != 0) {
    return {};
  }
  Address address;
  if (name.any.sa_family == AF_INET) {
    address = {name.v4.sin_addr.s_addr, name.v4.sin_port};
  } else if (name.any.sa_family == AF_INET6) {
    std::memcpy(&address.host, name.v6.sin6_addr.s6_addr + 12, sizeof(address.host));
    address.port = name.v6.sin6_port;
  }
  return address;
}

}  // namespace

void record_connection(int descriptor, const void* site) {
  if (descriptor < 0 || !recording()) {
    return;
  }
  const int errno_before = errno;
  const Address own = address_by(SYS_getsockname, descriptor);
  const Address other = address_by(SYS_getpeername, descriptor);
  errno = errno_before;
  if (own.port == 0 || other.port == 0 || own.host != other.host) {
    return;
  }
  const auto end = std::uint64_t{static_cast<unsigned>(descriptor)} | std::uint64_t{own.port} << 32;
  record_with_other(stamp(), {LONGPOLE_CONNECTION, reinterpret_cast<const void*>(end), site}, 0,
                    std::uint64_t{other.host} << 16 | other.port, 0);
}

}  // namespace longpole::recorder
