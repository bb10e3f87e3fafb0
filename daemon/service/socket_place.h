// The place of the daemon's Unix socket: a name in a directory that only its user can enter, because
// whoever can connect can run programs as that user.
//
// gRPC binds silently over a live socket and leaves its mode to the umask, so both are settled here:
//
//   auto place = SocketPlace::claim("");          // directory made or checked, name free, locked
//   … BuildAndStart on place->grpc_address() …    // gRPC binds
//   place->bound();                               // mode set, lock released
//
// The destructor removes the directory if claim() made it; gRPC removes its socket. Linux only.
#pragma once

#include <memory>
#include <string>

#include "trace/error.h"

namespace longpole::service {

class SocketPlace {
 public:
  // `wanted` empty: a new directory with a random name in $XDG_RUNTIME_DIR, $TMPDIR or /tmp, the first
  // that will do. Otherwise that path; its directory is made if only it is missing, and refused if
  // it is someone else's, a link, or open to others. A socket at which somebody answers is refused,
  // one at which nobody does is replaced.
  [[nodiscard]] static Expected<SocketPlace> claim(const std::string& wanted);

  ~SocketPlace();
  SocketPlace(SocketPlace&&) noexcept;
  SocketPlace& operator=(SocketPlace&&) noexcept;

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] std::string grpc_address() const;  // the path as gRPC's URI parser wants it

  // To be called once the socket is there.
  [[nodiscard]] Expected<void> bound();

 private:
  struct State;
  explicit SocketPlace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace longpole::service
