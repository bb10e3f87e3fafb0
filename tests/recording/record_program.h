// Records a program for a test, through a Session as everybody does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "recording/session.h"

namespace longpole::recording {

struct Recorded {
  Expected<Recording> recording = failure("not recorded", "");
  std::vector<ChildRecording> children;
  std::string output;  // of the program
  std::string error_output;
  std::vector<Phase> phases;
  pid_t pid = 0;
};

// A program built for these tests.
[[nodiscard]] std::string specimen(const std::string& name);
// One for those of the recorder.
[[nodiscard]] std::string recorder_specimen(const std::string& name);

// The options that find the launcher in the test itself and the recorder in the build tree.
[[nodiscard]] Options options_for(const std::string& program,
                                  std::vector<std::string> arguments = {});

// Runs it to its end. `on_output` sees what the program has printed so far, and may stop it;
// `on_start` learns its process id.
[[nodiscard]] Recorded record(
    const Options& options,
    const std::function<void(Session&, const std::string& output)>& on_output = {},
    const std::function<void(pid_t)>& on_start = {});

[[nodiscard]] std::vector<std::string> notice_codes(const Recording& recording);
// CPU time of all events; of the recording in nanoseconds.
[[nodiscard]] Nanoseconds cpu_of(const Thread& thread);
[[nodiscard]] double cpu_of(const Recording& recording);
// Without waits outside of calls.
[[nodiscard]] std::ptrdiff_t calls_of(const Thread& thread);

}  // namespace longpole::recording
