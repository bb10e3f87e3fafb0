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

  // Appends a line "TIME TID DELAY" (ns) for every thread there is. Kernels without scheduler
  // statistics give none.
  void snapshot(std::int64_t now_ns);

 private:
  std::filesystem::path tasks_;
  Descriptor file_;
};

// Waiting time so far, by thread id; times from `base_ns`. Lines that are none are passed over.
[[nodiscard]] std::map<std::int32_t, CpuCurve> read_run_delays(std::string_view lines,
                                                               std::int64_t base_ns);

}  // namespace longpole::recording
