// `longpole serve`: the daemon that an editor talks to.
//
// Listens on a Unix socket that only its user can reach (socket_place.h) and prints one line to
// standard output once a client may connect:
//
//   READY {"protocol":1,"version":"0.1.0","commit":"…","socket":"/run/user/1000/longpole-…/…","pid":7}
//
// Everything else goes to standard error. Ends on SIGTERM, SIGINT and SIGHUP, and with its parent if
// asked to; programs that it is recording are stopped then, and their recordings kept.
#pragma once

#include <string>

namespace longpole::service {

struct ServeOptions {
  std::string socket;         // path; empty: a new one in a new directory
  bool parent_stdin = false;  // end when standard input does, or the parent process
};

// Returns the exit status. Blocks signals' default actions while it runs; call it once, with no
// other threads.
[[nodiscard]] int serve(const ServeOptions& options);

}  // namespace longpole::service
