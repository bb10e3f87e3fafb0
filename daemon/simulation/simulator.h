// The simulator of machines with a limited number of CPUs: what runs when and where, and why.
//
//   Expected<SimulatedRun> run = simulate(recording, machine);            keeps the schedule
//   Expected<SimulatedEnd> end = simulate(recording, machine, consumer);  hands it out as it goes
//
// Event driven (thesis, Paper I section 3.2): Synchronization says what the calls do to each other,
// a Scheduler who gets which CPU. A schedule is a list of stretches, in order of their ends:
//
//   thread A  ├───── cut ─────┤runnable├──── ends in a call ────┤
//   thread B     blocked   ├──────── has the CPU ─────┤
//                       ready = start              its end gave A the CPU back
//
// Pure functions of their arguments; any number may run at once.
#pragma once

#include <cstdint>
#include <optional>

#include "simulation/large_array.h"
#include "simulation/machine.h"
#include "simulation/schedule.h"
#include "simulation/wait_fors.h"
#include "trace/recording.h"

namespace longpole::simulation {

using StretchIndex = std::uint32_t;  // its place in the order of ends
inline constexpr StretchIndex no_stretch = 0xffffffffU;

// What a thread did from `start` to `end`: it computed on a CPU, or spun there for a lock (Event::spins()),
// or was off it for a fixed time.
// Between the end of its previous stretch and `ready` it was blocked in the call that the previous
// stretch ended in; from `ready` to `start` it could run and had no CPU.
struct Stretch {
  Nanoseconds ready{};
  Nanoseconds start{};
  Nanoseconds end{};
  // What made it ready: the thread's own previous stretch, or the wake-up edge from that of another.
  // no_stretch: it was ready at time 0. Its end is `ready`, or earlier by the latency between CPUs and
  // the time that an idle CPU takes to wake up.
  StretchIndex released_by = no_stretch;
  // Where start > ready: whose end, after `ready`, gave it the CPU. Its end is `start`, or earlier where the
  // CPU stood idle until the scheduler moved the thread there. no_stretch where start == ready, or the CPU
  // stood idle since then or before.
  StretchIndex given_by = no_stretch;
  std::uint32_t event : 31 = 0;  // of the thread: the one that it computes towards, or waits in
  std::uint32_t spins : 1 = 0;   // in the call of that event, which it has come to before
  std::uint32_t thread : 20 = 0;
  std::uint32_t cpu : 11 = no_cpu;  // no_cpu: off the CPU for a fixed time (sleep, I/O, …)
  // The CPU was taken away, or the program ended, before the call was reached or the wait was over.
  std::uint32_t cut : 1 = 0;

  [[nodiscard]] bool running() const { return cpu != no_cpu; }
  friend bool operator==(const Stretch&, const Stretch&) = default;
};
static_assert(sizeof(Stretch) == 40, "DESIGN section 9: at most 100 bytes an event in the daemon");

struct SimulatedEnd {
  Nanoseconds total{};     // when the last stretch ends, or the program exits
  Nanoseconds spinning{};  // of all stretches that spin
  Nanoseconds fetching{};  // CPU time of fetching locks from other CPUs (HostCosts::lock_afar)
  std::optional<Deadlock> deadlock;
  std::uint64_t stretches = 0;
  std::uint64_t preemptions = 0;  // stretches that were cut
  std::uint64_t migrations = 0;   // times that a thread took up on another CPU than its last
  // That a thread woke up beside another though a CPU was idle (HostCosts::packed_use).
  std::uint64_t packed = 0;
};

class StretchConsumer {
 public:
  virtual ~StretchConsumer() = default;
  // Called for each stretch in order of ends; what it refers to has come before.
  virtual void add(const Stretch& stretch) = 0;
};

// What `pairs` has is simulated by them, the rest by the direct model (models.h).
//
// Errors: those of check(machine, recording), and more preemptions than the machine allows.
[[nodiscard]] Expected<SimulatedEnd> simulate(const Recording& recording, const Machine& machine,
                                              StretchConsumer& consumer,
                                              const WaitFors* pairs = nullptr);

// With the survey of that recording: for whoever simulates it on many machines.
[[nodiscard]] Expected<SimulatedEnd> simulate(const Recording& recording, const Survey& survey,
                                              const Machine& machine, StretchConsumer& consumer);

struct SimulatedRun {
  SimulatedEnd end;
  LargeArray<Stretch> stretches;
};
[[nodiscard]] Expected<SimulatedRun> simulate(const Recording& recording, const Machine& machine,
                                              const WaitFors* pairs = nullptr);

}  // namespace longpole::simulation
