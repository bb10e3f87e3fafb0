// What a user can ask of a recording. Checked by Session::start, which refuses what cannot be done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace longpole::recording {

// Pinned to one CPU as the papers do, or on all the CPUs it would have without us.
enum class Cpus : bool { one, all };

// automatic: the kernel's perf events where the machine allows them, else the portable source.
enum class SourceChoice : bool { automatic, portable };

struct Options {
  std::string program;  // a path, or a name looked up in PATH
  std::vector<std::string> arguments;
  std::filesystem::path directory;                 // where it runs; empty: where we run
  std::map<std::string, std::string> environment;  // added to our own
  Cpus cpus = Cpus::one;
  std::uint32_t as_cpus = 0;  // the CPU count that the program is told; 0: the machine's
  // Samples per second of CPU time, at most max_rate_hz; 0: default_rate_hz, or fewer, see sample_cost.h.
  std::uint32_t rate_hz = 0;
  // Entries and exits of functions compiled with -finstrument-functions are recorded as far as they
  // lie inside so many others, at most max_function_depth; 0: functions are sampled alone.
  std::uint32_t function_depth = 0;
  // The threads advance together as on so many CPUs, at most max_lockstep_cpus (recorder/lockstep.h); 0:
  // as the kernel has them. On one CPU alone, told of `lockstep` CPUs unless as_cpus says otherwise, and
  // from the portable source, which is exact there.
  std::uint32_t lockstep = 0;
  SourceChoice source = SourceChoice::automatic;
  bool follow = false;             // the processes that it starts are recorded too; not in lockstep
  std::filesystem::path recorder;  // the preload library; empty: found by its place beside us
  std::filesystem::path launcher = "/proc/self/exe";  // the program that has `launch`
};

inline constexpr std::uint32_t default_rate_hz = 1000;
inline constexpr std::uint32_t max_rate_hz = 20000;
inline constexpr std::uint32_t max_function_depth = 128;
inline constexpr std::uint32_t max_lockstep_cpus = 256;

}  // namespace longpole::recording
