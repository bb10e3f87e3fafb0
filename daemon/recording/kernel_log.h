// What the kernel's perf records say about each thread of the program: when it was on a CPU, when
// it slept, where it was sampled; and what the program mapped.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recording/cpu_curve.h"
#include "recording/kernel_costs.h"
#include "recording/merged_run.h"
#include "recording/stolen_time.h"
#include "recording/tracepoints.h"

namespace longpole::recording {

inline constexpr std::uint32_t no_path = 0xffffffffU;

// The thread gave up its CPU of its own accord at `from` and had it again at `until`. It could have
// had it at `ready`, as far as the records tell: see read_kernel_log().
struct Gap {
  std::int64_t from = 0;
  std::int64_t ready = 0;
  std::int64_t until = 0;
  // Of those that the scheduler's tracepoints show: where it slept, the thread of the program that
  // woke it, and where that was. 0: somebody else, or nobody knows.
  std::uint32_t path = no_path;  // index into a table of paths
  std::int32_t waker_tid = 0;
  std::uint32_t waker_path = no_path;
  bool in_call = false;  // portable source: in a call that waits for nobody known
};

struct TimedSample {
  std::int64_t time = 0;
  std::uint32_t path = 0;  // index into a table of paths
  std::uint32_t weight = 1;
};

// One life of a thread id; ids are used again.
struct Task {
  std::int32_t tid = 0;
  std::int64_t born = 0;
  std::int64_t died = 0;
  CpuCurve cpu;
  std::vector<Gap> gaps;
  std::vector<TimedSample> samples;
};

struct TimedMapping {
  std::int64_t time = 0;
  std::string path;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
};

struct KernelLog {
  std::vector<Task> tasks;  // of the program, by birth
  std::vector<std::vector<std::uint64_t>> paths;
  std::vector<TimedMapping> mappings;  // in order of time
  std::uint64_t lost = 0;              // records, also of those below
  bool has_wakes = false;              // the wakers of the gaps are known, as far as they are ours
  std::uint64_t switches = 0;
  std::int64_t taken_out_ns = 0;  // of the threads' times: what recording took (KernelCosts)
  std::uint64_t execs = 0;        // how often the process became another program
  bool torn = false;
};

// Of the program.
struct RunTime {
  std::int64_t base_ns = 0;      // where its run begins and
  std::int64_t ended_ns = 0;     // where it was seen to have ended, by CLOCK_MONOTONIC
  std::int64_t cpu_time_ns = 0;  // what the process clock says was used in all; 0: not known
  StolenTime stolen{};
};

// `mapped_before`: what the process had mapped at `base_ns`, where it began before and the records of that are
// not its own: a child that is followed. Nothing outside the run counts: a process id
// may have been another program before and after.
//
// `spools`: one a CPU. All times in the log count from the beginning of the run.
//
// The process clock has the last word on the sum. The time of a context switch itself, 0.6 µs and
// more, belongs to nobody's interval but stands on the threads' clocks: where it adds up (hundreds of
// thousands of switches a second), what the process clock has more than the intervals is shared out
// among them evenly, less what writing it down took. What it has less is time that a hypervisor or interrupts
// took while the thread stood on its CPU: intervals in which CPUs were seen to be stolen are shortened by that, and what
// is left of it shortens all in proportion. What samples and tracepoints took is taken out of the interval that they are of.
//
// When was a thread that slept ready to run again? Nothing unprivileged says. If its CPU was idle
// before it came back, or the thread before it was preempted, it was ready just then: an idle CPU
// takes it at once, and being woken is what makes the kernel preempt another. If the thread before
// it blocked, it may have been waiting for that CPU, for as long as that thread was on it but hardly
// longer, since a thread that has slept goes first: so it counts as ready from when that thread came
// on. The error is below one time slice. With `wakes`, the spools of the scheduler's tracepoints,
// a thread that another one of the program woke was ready when it was woken.
struct WakeSpools {
  Tracepoints tracepoints;
  std::span<const std::span<const std::uint8_t>> spools;
};
[[nodiscard]] KernelLog read_kernel_log(std::span<const std::span<const std::uint8_t>> spools,
                                        std::int32_t pid, const RunTime& run,
                                        const std::optional<WakeSpools>& wakes = std::nullopt,
                                        std::vector<TimedMapping> mapped_before = {},
                                        const KernelCosts& costs = {});

}  // namespace longpole::recording
