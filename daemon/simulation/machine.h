// Machine: the computer that a recorded program is simulated on. A plain value; what is left alone is
// a computer like the one that recorded: as fast, and with its costs, of which program files have
// none.
//
// DESIGN section 6; thesis, Paper I section 3.2 (CPUs, LWPs, latency, bindings and priorities that
// override the recording), Paper II section 4 (devices), Paper VII section 2 (latency).
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "simulation/synchronization.h"
#include "trace/recording.h"

namespace longpole::simulation {

// The schedulers that know CPUs. Each has its page: the header of the same name.
enum class SchedulerKind : std::uint8_t {
  linux_fair,  // "linux": linux_fair.h
  fifo,        // "fifo": fifo.h
  linux_2_2,   // "linux-2.2": linux_2_2.h
  solaris,     // "solaris": solaris.h
};
inline constexpr std::size_t scheduler_kind_count = 4;
[[nodiscard]] std::string_view name_of(SchedulerKind scheduler);
[[nodiscard]] std::optional<SchedulerKind> scheduler_named(std::string_view name);

// How a thread is scheduled, in place of what the recording says. What a scheduler does not know
// (nice values under fifo, LWPs elsewhere than on Solaris) has no effect there.
struct ThreadSettings {
  std::optional<std::uint32_t> cpu{};      // the only CPU that it may use
  std::optional<std::int32_t> priority{};  // larger is higher
  std::int32_t nice = 0;                   // linux: −20 … 19, smaller is heavier
  bool round_robin = false;                // linux: its priority is one of SCHED_RR, not SCHED_FIFO
  bool bound_to_lwp = false;               // solaris: it has an LWP of its own
};

inline constexpr std::uint32_t most_cpus = 1024;
inline constexpr std::uint32_t no_cpu = most_cpus;

// Speeds are in thousandths of the speed of the CPU that recorded.
inline constexpr std::uint32_t recorded_speed = 1000;
inline constexpr std::uint32_t slowest_speed = 1;
inline constexpr std::uint32_t fastest_speed = 1'000 * recorded_speed;

// Of a cost or a latency; keeps sums of a thread's time inside 64 bits.
inline constexpr Nanoseconds longest_cost = std::chrono::seconds(1);

// 250 to a second.
inline constexpr Nanoseconds usual_tick = std::chrono::milliseconds(4);

inline constexpr std::uint32_t most_newly_idle_share = 1024;

struct Machine {
  SchedulerKind scheduler = SchedulerKind::linux_fair;
  std::uint32_t cpus = 1;
  std::vector<std::uint32_t> speeds;  // of each CPU; empty: recorded_speed for all

  // Until a signal from one CPU is seen on another, also by a waiter that arrives meanwhile. On the
  // same CPU it is seen at once.
  Nanoseconds latency{};
  // NUMA: the node of each CPU; empty: all are in one. Between CPUs of different nodes a signal takes
  // `node_latency` in place of `latency` (Paper VII section 8).
  std::vector<std::uint32_t> nodes;
  Nanoseconds node_latency{};
  // CPU time until a CPU has taken up another thread than its last; none: the recording's.
  std::optional<Nanoseconds> switch_cost;
  // And until a thread has taken up on another CPU than its last; none: the recording's.
  std::optional<Nanoseconds> migration_cost;
  // Until an idle CPU takes up a thread that was woken from another; none: the recording's.
  std::optional<Nanoseconds> wake_up;
  // linux: until a busy CPU learns of such a thread, and takes it up in place of its own if it is to; none: the
  // recording's.
  std::optional<Nanoseconds> interrupt;
  // And what the interrupt takes of whoever runs there (HostCosts::interruption); none: the recording's.
  std::optional<Nanoseconds> interruption;
  // CPU time of a call that blocks, half before its thread leaves the CPU and half when it is back, and of letting the
  // thread go on (HostCosts::release, release_afar); none: the recording's.
  std::optional<Nanoseconds> block_cost;
  std::optional<Nanoseconds> release_cost;
  std::optional<Nanoseconds> release_afar_cost;
  // Of CPUs that have been idle for deep_sleep, in place of the wake-up and of the release afar (HostCosts::deep_sleep and
  // what follows it); none: the recording's. See deep_sleep_of().
  std::optional<Nanoseconds> deep_sleep;
  std::optional<Nanoseconds> deep_wake_up;
  std::optional<Nanoseconds> deep_release_cost;
  // CPU time that taking a lock, or a unit of a semaphore, without waiting takes more where it was last used on another
  // CPU (HostCosts::lock_afar); none: the recording's.
  std::optional<Nanoseconds> lock_afar_cost;
  // CPU time that a call of each kind takes besides what was recorded, by EventKind.
  std::array<Nanoseconds, event_kind_count> primitive_cost{};

  // How locks and semaphores pass from thread to thread; none: as the scheduler's system has it.
  std::optional<HandOff> hand_off;
  bool parallel_devices = false;  // a device serves all at once; otherwise one request at a time
  std::uint32_t lwps = 0;         // solaris: for the threads that are not bound; 0: as many as they
  // linux: 1 s / CONFIG_HZ; none: the recording's, else usual_tick.
  std::optional<Nanoseconds> tick;
  // linux: an idle CPU looks by itself, that long after it looked in vain (HostCosts::idle_look). 0: when it is told, as
  // linux_fair.h says it; none: the recording's.
  std::optional<Nanoseconds> idle_look;
  // linux: HostCosts::packed_use; none: the recording's.
  std::optional<Nanoseconds> packed_use;
  // linux: how long a thread may have a CPU that others want. 0: as its kernels choose it for so many
  // CPUs, which is wrong where the program may use only some of the system's.
  Nanoseconds slice{};
  // linux: before the run, of 1,024 times that a CPU fell idle beside threads that waited, how often it helped to look for
  // one (newly_idle.h). It depends on what else a machine did. One time in eight was the middle of 25 shares of a computer
  // of two CPUs on a day of builds, tests and runs of all kinds. They went from 0, behind threads that do nothing but
  // compute, to all, when a look helped then after all.
  std::uint32_t newly_idle_share = most_newly_idle_share / 8;
  // linux: which course chance takes: when in a run ticks come, what a CPU does first at one, whether one that falls
  // idle looks. Each number is another course, and always the same.
  std::uint32_t chance = 0;
  std::vector<ThreadSettings> threads;  // by thread id; may be shorter than the recording's threads

  // Times that the CPU may be taken from a thread that could have gone on. A program of hundreds of
  // days would otherwise be simulated for hours.
  std::uint64_t most_preemptions = 200'000'000;

  [[nodiscard]] Nanoseconds longest_latency() const {
    return nodes.empty() ? latency : std::max(latency, node_latency);
  }
  [[nodiscard]] Nanoseconds latency_between(std::uint32_t from, std::uint32_t to) const {
    if (from == to)
      return {};
    return nodes.empty() || nodes[from] == nodes[to] ? latency : node_latency;
  }
};

// The costs of a machine that says nothing of them. The CPU times of a recording made on one CPU hold
// what taking up its threads again took, and what blocking and letting go on. That is taken out of them,
// since here others may be taken up, and others block; locks were never fetched from another CPU. Where there
// were several CPUs it cannot be told which thread was taken up when, nor what was interrupted or fetched: it
// all remains in the times, and costs nothing here.
[[nodiscard]] HostCosts recorded_costs(const Recording& recording);

// Where a machine says what a wake-up takes, and nothing of deeper sleep, that is what it takes however long a CPU slept: 0.
[[nodiscard]] Nanoseconds deep_sleep_of(const Machine& machine, const HostCosts& recorded);

[[nodiscard]] Nanoseconds tick_of(const Machine& machine, const Recording& recording);

// CPU time that a program takes on so many CPUs for what it takes 1 for on one, by the run's cpu_time_on: between two
// numbers of CPUs as the logarithm goes, beyond the last as there.
[[nodiscard]] double cpu_time_on(const RunInfo& run, std::uint32_t cpus);

// Of each CPU, or none where all are as fast as the one that recorded: as the machine has them, and faster by what
// the program saves on so many CPUs (cpu_time_on), or slower. Computers without CPUs of their own (`ideal`, `shared`) know nothing of it.
[[nodiscard]] std::vector<std::uint32_t> speeds_on(const Machine& machine, const RunInfo& run);

// How its objects pass from thread to thread, and its devices from request to request.
[[nodiscard]] Rules rules_of(const Machine& machine);

// That the machine can run the recording: sensible numbers, no thread bound to a CPU that is not
// there. Bindings of the recording itself count modulo the CPUs, for it was made elsewhere.
[[nodiscard]] Expected<void> check(const Machine& machine, const Recording& recording);

}  // namespace longpole::simulation
