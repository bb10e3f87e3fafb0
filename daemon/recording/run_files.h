// The files of a run directory, and what the two JSON ones say.
//
//   control, events   the recorder's (longpole/raw_record.h), and launches and child.K, see children.h
//   request.json      session → launcher
//   result.json       launcher → session; appears whole, by rename
//   perf.CPU          the perf records of one CPU, as the kernel wrote them
//   wakes.CPU         likewise of the scheduler's tracepoints, where we may read them
//   maps              snapshots of /proc/PID/maps, one behind the other
//   run_delays        how long threads waited for a CPU (run_delays.h)
//
// Everything is removed once the Recording is made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "recording/kernel_costs.h"
#include "recording/options.h"
#include "recording/tracepoints.h"
#include "trace/error.h"
#include "trace/recording.h"

namespace longpole::recording {

inline constexpr const char* control_file = "control";
inline constexpr const char* events_file = "events";
inline constexpr const char* maps_file = "maps";
inline constexpr const char* run_delays_file = "run_delays";
[[nodiscard]] std::string perf_file(std::uint32_t cpu);
[[nodiscard]] std::string wakes_file(std::uint32_t cpu);
[[nodiscard]] std::string child_directory(std::uint32_t child);  // from 1

struct Request {
  std::filesystem::path program;  // absolute, checked
  std::vector<std::string> argv;  // what the program sees, its name included
  std::filesystem::path directory;
  std::vector<std::string> environment;  // NAME=VALUE, added
  std::vector<std::string> preload;      // in this order, before what LD_PRELOAD holds
  bool all_cpus = false;
  std::uint32_t as_cpus = 0;
  std::uint32_t rate_hz = 0;
  std::uint32_t function_depth = 0;
  std::uint32_t lockstep = 0;
  bool follow = false;
  bool portable = false;
  std::uint32_t max_units = 0;
};

// A moment on both clocks.
struct ClockPair {
  std::uint64_t tsc = 0;
  std::int64_t monotonic_ns = 0;

  friend bool operator==(const ClockPair&, const ClockPair&) = default;
};

// How much time of the program's CPUs the host of a virtual machine had given to others at a moment, since the machine started.
struct StolenLook {
  std::int64_t monotonic_ns = 0;
  std::int64_t stolen_ns = 0;

  friend bool operator==(const StolenLook&, const StolenLook&) = default;
};

struct Result {
  std::optional<Error> error;  // the program was never started
  std::int32_t pid = 0;
  std::int64_t started_at_unix_ns = 0;
  std::int64_t started_ns = 0;  // CLOCK_MONOTONIC, just before exec
  std::int64_t ended_ns = 0;
  std::int64_t cpu_time_ns = 0;  // of the program without its children; 0: not known
  std::optional<int> exit_status;
  std::optional<int> exit_signal;
  bool stopped = false;  // by us
  bool kernel_source = false;
  bool kernel_samples = false;   // samples are taken inside the kernel too
  bool stacks_left_out = false;  // copies of the stack were left out of later samples
  std::string perf_refused;      // why there is no kernel source although it was wanted
  std::string spool_error;       // why perf records stop early
  std::uint32_t cpus = 1;        // that the program could use
  std::uint32_t lockstep = 0;    // as it was asked for
  std::uint32_t machine_cpus = 1;
  std::vector<std::uint32_t> perf_cpus;
  std::uint32_t sample_hz = 0;  // as it was set
  std::uint32_t ticks_hz = 0;   // of the kernel; 0: it does not say
  KernelCosts costs;
  HostCosts changes;  // thread_changes.h: on the program's CPU, or the first of them
  std::optional<Tracepoints> tracepoints;  // of the spools of wakes; none: there are none
  std::vector<ClockPair> clock_pairs;      // in order of time
  std::vector<StolenLook> stolen;          // likewise; empty: nothing ever was
};

[[nodiscard]] Expected<void> write_request(const std::filesystem::path& run_directory,
                                           const Request& request);
[[nodiscard]] Expected<Request> read_request(const std::filesystem::path& run_directory);
[[nodiscard]] Expected<void> write_result(const std::filesystem::path& run_directory,
                                          const Result& result);
[[nodiscard]] Expected<Result> read_result(const std::filesystem::path& run_directory);

// A directory that only we can enter, removed with all it holds when this object goes.
class RunDirectory {
 public:
  // Fails where files may have next to no bytes (RLIMIT_FSIZE), too.
  // Under TMPDIR, which the user chose, XDG_RUNTIME_DIR or /tmp: the first that has a gigabyte free, else the roomiest.
  [[nodiscard]] static Expected<RunDirectory> create();
  ~RunDirectory();
  RunDirectory(RunDirectory&& other) noexcept;
  RunDirectory& operator=(RunDirectory&& other) noexcept;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace longpole::recording
