// Starts the launcher (launcher.h) as a process and hands out what is needed to follow it.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "recording/session.h"
#include "recording/system.h"

namespace longpole::recording {

// Of the pipes that the program writes into; what an unprivileged process may have (pipe(7),
// pipe-max-size). Through a small one a program that writes much waits for us again and again, and on
// a CPU that it shares with us for as long as its other threads run.
inline constexpr int pipe_size = 1 << 20;

struct LauncherProcess {
  pid_t pid = -1;
  Descriptor exited;           // a pidfd
  Descriptor lifeline;         // our end
  Descriptor standard_output;  // the reading ends, if piped
  Descriptor standard_error;
};

// `launcher`: the program that has the `launch` subcommand. With piped output it has a process group
// of its own, so that what a terminal sends us does not reach it, and the signals of a fresh
// process: servers ignore SIGPIPE, programs must not.
[[nodiscard]] Expected<LauncherProcess> start_launcher(const std::filesystem::path& launcher,
                                                       const std::filesystem::path& run_directory,
                                                       Output output);

}  // namespace longpole::recording
