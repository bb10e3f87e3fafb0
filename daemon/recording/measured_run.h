// One run of a program as it is: not recorded, with nothing of ours in it. What predictions are
// held against.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/error.h"
#include "trace/types.h"

namespace longpole::recording {

struct MeasuredRun {
  Nanoseconds elapsed{};   // from before it is started until it has ended
  Nanoseconds cpu_time{};  // its own and that of the children it waited for, user and kernel
  // What everybody else took of its CPUs meanwhile, and what the host of a virtual machine did (system.h, CpuUse); to a
  // hundredth of a second a CPU.
  Nanoseconds others{};
  Nanoseconds stolen{};
  // Bytes of files that a disk had to bring, for it and the children it waited for: getrusage(2), ru_inblock.
  std::uint64_t read_from_disk = 0;
  int exit_status = 0;  // 128 + the number of the signal that ended it
};

// The longest time slice that Linux gives on demand (sched_setattr(2), sched_runtime; since 6.12, before
// that it gives none). A thread that has so much time before the next one gets the CPU loads the caches anew
// a tenth as often as usual, or less.
inline constexpr Nanoseconds long_slice{100'000'000};

// What a program's own sched_setaffinity(2) does. It may widen what it was given, as x265 does, and run on more CPUs.
enum class OwnAffinity : std::uint8_t {
  granted,
  ignored,  // answered with success and not done, as when it is recorded: by seccomp(2), without new privileges
};
// It computed for longer than so many CPUs can have: it went to others, too.
[[nodiscard]] bool left_its_cpus(const MeasuredRun& run, std::size_t cpus);

// Runs `program` on `cpus` alone, with nothing to read and its output thrown away, and waits for its end. It is started from
// the first of them, and where it begins depends on that: of two idle ones Linux takes either always that one or always the
// other, for minutes at a time. Signals that end this process end the program first (stop_signals.h); not to be called by two
// threads at once. `program`: a path that can be executed. `slice`: of its threads, where the system gives such ones; 0: as it
// has them. Errors: of the system, when it cannot be started, or its affinity is to be ignored and cannot.
[[nodiscard]] Expected<MeasuredRun> run_measured(const std::filesystem::path& program,
                                                 const std::vector<std::string>& arguments,
                                                 const std::vector<std::uint32_t>& cpus,
                                                 Nanoseconds slice = {},
                                                 OwnAffinity affinity = OwnAffinity::granted);

// As run_measured(), a copy on each of `cpus` at a time, of whose threads as many take turns there as on each of `as_if_on` CPUs
// (fewer_at_once.h). One that has not ended after `patience` is killed, with what it has started: a thread that spins for what
// another one does may keep that from the CPU. `elapsed` is rough, `others` and `stolen` are left out.
[[nodiscard]] Expected<std::vector<MeasuredRun>> run_copies(
    const std::filesystem::path& program, const std::vector<std::string>& arguments,
    const std::vector<std::uint32_t>& cpus, std::uint32_t as_if_on, Nanoseconds patience,
    OwnAffinity affinity = OwnAffinity::granted);

// The CPUs that this process may use, in the order in which to add them to a program: first one of
// each core, then the cores' second hardware threads, and so on.
[[nodiscard]] std::vector<std::uint32_t> usable_cpus_cores_first();

}  // namespace longpole::recording
