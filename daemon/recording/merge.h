// Merges what the recorder wrote and what the kernel saw of one run. Pure: bytes and structs in, a
// MergedRun out.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "longpole/raw_record.h"
#include "recording/futex_edges.h"
#include "recording/kernel_log.h"
#include "recording/merged_run.h"
#include "recording/run_files.h"

namespace longpole::recording {

// Of a process that is followed. The first one's end is seen by the launcher.
enum class Ending : std::uint8_t {
  seen,
  unseen,   // killed, or left by a system call of its own
  running,  // when the recording ended
};

struct MergeInput {
  longpole_control control{};
  std::span<const std::uint8_t> events;         // the recorder's file
  Result result;                                // of the launcher
  KernelLog kernel;                             // empty under the portable source
  std::map<std::int32_t, CpuCurve> run_delays;  // empty under the kernel source
  std::vector<std::string> command;
  std::string directory;
  Ending ending = Ending::seen;
  std::int64_t cpu_before_ns = 0;  // that its first thread had used when its recording began
  bool follow = false;             // RunDescription::follow
  std::vector<std::string>
      unfollowed;                // programs that the recorded ones started, and why they are not
  bool may_wait_unseen = false;  // in ways of its own, or of OpenMP's
  IsBarrierWait is_barrier_wait = [](std::span<const std::uint64_t>) { return false; };
};

// Fails only when there is nothing that could be called a recording: the recorder never spoke.
[[nodiscard]] Expected<MergedRun> merge_run(const MergeInput& input);

}  // namespace longpole::recording
