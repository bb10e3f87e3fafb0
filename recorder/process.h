// The recording as a whole: one a process, from the library's constructor to the process's end.
//
// The library records when LONGPOLE_RUN_DIRECTORY names a directory with a valid control file that
// no process has claimed. It then takes the variable and itself out of the environment, so that
// whatever the program starts is left alone. Where the control file says that processes are followed, both
// stay, and a process that finds the file claimed records into a directory of its own below; one that
// is forked does so from there on. In every other case each hook passes straight through.
#pragma once

#include <atomic>
#include <cstdint>

#include "longpole/raw_record.h"

namespace longpole::recorder {

enum class Mode : std::uint32_t {
  kOff = 0,
  kKernelClock = 1,  // the launcher measures CPU time
  kThreadClock = 2,  // every record carries the thread's CPU time
  kLockstep = 3,     // likewise, and the threads advance together: see lockstep.h
};

struct RecordingState {
  std::atomic<Mode> mode;
  // No two threads of the program ever run at once: longpole_control.one_cpu.
  bool on_one_cpu;
};

// Points into a page that the kernel wipes in forked children, whichever way they are forked: there
// its mode reads kOff. Before the start it points to a constant kOff.
extern const RecordingState* recording_state;

inline Mode mode() {
  return recording_state->mode.load(std::memory_order_relaxed);
}
inline bool recording() {
  return mode() != Mode::kOff;
}
inline bool reads_thread_clock() {
  return mode() >= Mode::kThreadClock;
}
inline bool in_lockstep() {
  return mode() == Mode::kLockstep;
}

inline bool on_one_cpu() {
  return recording_state->on_one_cpu;
}

// The CPU count to tell the program; 0: the truth. Stays when the recording stops, and in children,
// because the pinning does.
// Starts the recording if nobody has: libgomp counts the CPUs in its own constructor, before ours.
std::uint32_t told_cpus();

// Until it is complete, for a thread that is there before the program's beginning: a library's constructor may start some.
void wait_for_start();

// Valid while recording().
longpole_control& control();

// Whether the processes that this one starts record as well.
bool follows_children();

// How the process is about to end; UNKNOWN: it did not after all. Nothing in a child of vfork(), and of an exit where
// children are not followed. Async-signal-safe. `becomes`: of an exec, the program.
void mark_ending(longpole_ending ending, const char* becomes = "");

// Sticky: the first reason stays. The program goes on unrecorded. Any thread, any context.
void stop_recording(longpole_stop_reason reason, int error);

}  // namespace longpole::recorder
