// What each thread and each CPU of a simulated machine (event_machine.h) is at. Times as there: nanoseconds
// since the program's start.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "simulation/machine_costs.h"
#include "simulation/scheduler.h"
#include "simulation/simulator.h"
#include "simulation/synchronization.h"
#include "trace/recording.h"

namespace longpole::simulation {

enum class Doing : std::uint8_t {
  not_started,
  queued,
  running,
  waiting,    // off the CPU for a fixed time
  signalled,  // but the signal is still on its way from another CPU
  blocked,
  ended,
};
struct ThreadState {
  const Event* events = nullptr;
  std::uint32_t event_count = 0;
  std::uint32_t event = nobody;  // the current one; the first comes when the thread starts
  std::int64_t left = 0;         // CPU time until its call, at the recorded speed
  std::int64_t owed = 0;         // to be taken out of its recorded CPU times still, see OwnWork
  std::int64_t ready = 0;        // as in Stretch, of the current one
  std::int64_t start = 0;
  std::int64_t takes_up = 0;  // from here it gets on; before, its CPU switches to it
  StretchIndex released_by = no_stretch;
  StretchIndex given_by = no_stretch;
  std::uint32_t cpu = no_cpu;  // that it runs on, or is placed on
  Doing doing = Doing::not_started;
  bool retries = false;          // its call found nothing free before
  bool spins = false;            // it has a CPU, and is in a call that finds nothing free
  bool comes_from_afar = false;  // woken from another CPU than the one it is placed on
  bool wakes_cpu = false;        // likewise, and that CPU was idle; until its stretch ends
  OffCpu was = OffCpu::created;  // why it could not run
};

// That other CPUs send to a busy one, to tell it of a thread that it is to take up:
//
//   the sender's call ├─ release_afar ─┤ …               until then it has the queue of the other CPU locked
//   the other CPU        runs on ……… ├─ interruption ─┤ takes up the thread: Machine::interrupt after the call
//
// Where the other one chooses a thread before, the interrupt comes all the same.
class Interrupts {
 public:
  // `latency`: Machine::interrupt.
  Interrupts(const MachineCosts& costs, std::int64_t latency)
      : arrives_after_(std::max<std::int64_t>(0, latency - costs.interruption)),
        takes_(costs.interruption),
        holds_queue_(latency > 0 ? costs.release_afar : 0) {}

  // What those that came before have taken of the stretch that goes on.
  std::int64_t send(std::int64_t now) {
    holds_queue_until_ = now + holds_queue_;
    const std::int64_t taken = arrives_ <= now ? std::exchange(take_, 0) : 0;
    if (take_ == 0)
      arrives_ = now + arrives_after_;
    take_ += takes_;
    return taken;
  }
  // The CPU changes no threads before that.
  [[nodiscard]] std::int64_t holds_queue_until() const { return holds_queue_until_; }
  // The end of a stretch that would be over then.
  [[nodiscard]] std::int64_t delayed(std::int64_t end) const {
    return arrives_ < end ? end + take_ : end;
  }
  // Of a stretch that is cut now.
  [[nodiscard]] std::int64_t taken_by(std::int64_t now) const {
    return arrives_ < now ? std::min(take_, now - arrives_) : 0;
  }
  // A stretch is.
  void over(std::int64_t now) {
    if (arrives_ < now) {
      arrives_ = never;
      take_ = 0;
    }
  }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::int64_t arrives_after_;
  std::int64_t takes_;
  std::int64_t holds_queue_;
  std::int64_t arrives_ = never;  // the first that has yet to, or came in the stretch that goes on
  std::int64_t take_ = 0;         // all that have or did
  std::int64_t holds_queue_until_ = 0;
};

struct CpuState {
  std::uint32_t speed = recorded_speed;
  std::uint32_t last_thread = no_thread;
  StretchIndex last_stretch = no_stretch;
  std::int64_t last_end = 0;    // of that
  std::int64_t busy_until = 0;  // with a call, before its thread goes on or another takes its place
  std::int64_t awake = 0;       // since it was last woken up: before, it runs nobody
  Interrupts interrupts;
};

}  // namespace longpole::simulation
