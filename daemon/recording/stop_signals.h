// Signals that ask this process to stop while it runs programs one after the other.
#pragma once

#include <sys/types.h>

namespace longpole::recording {

// While one of these lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT end the program that runs, a second one for good, and are kept:
// when the last of them is gone, they end this process as ever. Signals that are ignored stay so. Of one thread only.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // One has come, and nobody took it.
  [[nodiscard]] static bool has_come();
  // Whoever takes it stops by itself, and this process goes on.
  static void take();

  // From here on that program is what they end; at once, where one has come.
  static void begin_program(pid_t program);
  static void end_program();
};

}  // namespace longpole::recording
