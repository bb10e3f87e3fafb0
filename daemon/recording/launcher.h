// The launcher: a process between the session and the recorded program.
//
// It is one so that the program's descriptors, signals and priority are nobody else's whatever the daemon is doing, and
// so that perf events are opened on a child that has not started yet. What it is to do stands in the request
// file of the run directory, what came of it in the result file (run_files.h); it prints nothing.
//
//   session ──posix_spawn──▶ launcher ──vfork──▶ child, stopped (stopped_child.h)
//                            opens perf events on it, lets it exec, drains the rings into spool
//                            files until it has exited, writes the result
//
// `lifeline` is one end of a socket pair. The launcher writes "PID\n" to it once the program runs. A byte that comes
// from there is a SIGINT for the program, which may do with it what it likes. When the other end closes, and on SIGTERM,
// SIGHUP or SIGQUIT, the launcher ends the program (SIGTERM, five seconds, SIGKILL) and finishes as usual.
#pragma once

#include <filesystem>

namespace longpole::recording {

// What `longpole launch DIRECTORY LIFELINE` runs. Returns the exit status: 0 when a result was
// written, be it a refusal.
[[nodiscard]] int run_launcher(const std::filesystem::path& run_directory, int lifeline);

}  // namespace longpole::recording
