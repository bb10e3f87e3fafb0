// How long each thread has waited for a CPU, from /proc/PID/task/TID/schedstat: what tells waiting
// for a CPU from sleeping where there are no context-switch records. The launcher writes it down now
// and then under the portable source.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "recording/cpu_curve.h"
#include "recording/system.h"

namespace longpole::recording {

class RunDelayRecorder {
 public:
  RunDelayRecorder(pid_t pid, const std::filesystem::path& run_directory);

  // Writes what no line says yet: up to which snapshot threads had not waited any longer.
  ~RunDelayRecorder();
  RunDelayRecorder(const RunDelayRecorder&) = delete;
  RunDelayRecorder& operator=(const RunDelayRecorder&) = delete;

  // Appends a line "TIME TID DELAY" (ns; when it was looked at, CLOCK_MONOTONIC, and how long it had waited) for every
  // thread that has waited since the snapshot before, or is seen for the first time; where it had not waited for longer, and
  // where it is seen no more, one for the last snapshot before as well, so that straight lines between them say when it
  // waited. Kernels without scheduler statistics give none.
  void snapshot();

 private:
  struct Seen {
    std::int64_t waited;
    std::int64_t last_ns;  // when the last snapshot saw it
    bool written;          // that is in the file
  };
  [[nodiscard]] static std::string last_line(std::int32_t tid, const Seen& seen);

  pid_t pid_;
  Descriptor file_;
  std::map<std::int32_t, Seen> seen_;  // of the last snapshot
};

// Waiting time so far, by thread id; times from `base_ns`. Lines that are none are passed over.
[[nodiscard]] std::map<std::int32_t, CpuCurve> read_run_delays(std::string_view lines,
                                                               std::int64_t base_ns);

}  // namespace longpole::recording
