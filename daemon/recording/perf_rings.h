// The kernel's perf events on a program that is about to start: the rings they fill, drained into
// one spool file a CPU. Used by the launcher's one thread.
//
// Each ring belongs to a CPU and gets the records of every thread of the program while on it:
// context switches, samples of the task clock with user call chains and the top of the stack, mappings, and the beginning
// and end of threads. Children of the program are in there too; readers filter by pid.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recording/system.h"
#include "recording/tracepoints.h"
#include "trace/error.h"

namespace longpole::recording {

class PerfRings {
 public:
  // Events on `pid`, which waits for its exec, on each of `cpus`. The errors are the reasons why
  // the portable source must be used; `why` says which setting forbids it.
  [[nodiscard]] static Expected<PerfRings> open(pid_t pid, const std::vector<std::uint32_t>& cpus,
                                                std::uint32_t rate_hz,
                                                const std::filesystem::path& run_directory);
  // Who wakes whom and where threads sleep besides, into spools of their own. Needs privileges; after
  // an error everything is as it was.
  [[nodiscard]] Expected<void> add_tracepoints(pid_t pid, const Tracepoints& tracepoints,
                                               const std::filesystem::path& run_directory);
  // A thread is sampled for the first time when it has computed for a whole period. From here on all that runs on the CPUs is
  // sampled besides, where that is allowed, at times that do not depend on threads: what is short comes in for its share.
  void sample_cpus();
  // Without waiting for an exec, or not any more.
  void record_at_once(bool on);
  ~PerfRings();
  PerfRings(PerfRings&&) noexcept;
  PerfRings& operator=(PerfRings&&) noexcept;

  // Moves what the rings hold into the spool files, of those that hold so many bytes; true if there was anything. After
  // a file could not be written the rings are left alone, and spool_error() says why.
  bool drain(std::size_t at_least = 1);
  [[nodiscard]] const std::string& spool_error() const { return spool_error_; }

  // What to poll for: an entry a ring that is ready when it holds a good deal. Those that last for longer than
  // longest_rest_ns have none and must be looked at as often: of an event that is polled for, the kernel wakes up who does at
  // the end of each thread, on the CPU that the program has, to see for himself that it was not the last one.
  [[nodiscard]] std::vector<pollfd> poll_entries() const;
  static constexpr std::int64_t longest_rest_ns = 5'000'000;

  [[nodiscard]] std::vector<std::uint32_t> cpus() const;
  // Whether samples went without copies of the stack from some point on, to spare the disk.
  [[nodiscard]] bool left_out_stacks() const { return lean_; }
  // Whether samples are taken inside the kernel as well, which needs privileges.
  [[nodiscard]] bool samples_kernel() const { return samples_kernel_; }

 private:
  struct Ring;
  PerfRings();
  void spool(Ring& ring, std::span<const std::uint8_t> bytes);

  std::vector<Ring> rings_;
  std::string spool_error_;
  bool samples_kernel_ = false;
  std::uint64_t spooled_ = 0;
  std::uint64_t spooled_wakes_ = 0;
  bool lean_ = false;
  std::vector<std::uint8_t> pending_;
};

}  // namespace longpole::recording
