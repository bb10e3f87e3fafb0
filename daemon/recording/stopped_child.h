// A child process that waits, before its exec, for what must be set up from outside.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "recording/run_files.h"
#include "recording/system.h"

namespace longpole::recording {

class StoppedChild {
 public:
  // The child has `signal_mask`, may use `cpus`, and dies with this process, in which a thread stays for it.
  [[nodiscard]] static Expected<StoppedChild> spawn(const Request& request,
                                                    const std::filesystem::path& run_directory,
                                                    const std::vector<std::uint32_t>& cpus,
                                                    const sigset_t& signal_mask);

  [[nodiscard]] pid_t pid() const { return pid_; }

  // Lets it exec; returns once that has happened or failed.
  [[nodiscard]] Expected<void> release();

 private:
  StoppedChild() = default;

  pid_t pid_ = -1;
  std::filesystem::path program_;
  Descriptor go_;      // written to: exec; closed: end
  Descriptor failed_;  // the errno of what went wrong; closed by a successful exec
};

}  // namespace longpole::recording
