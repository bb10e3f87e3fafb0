// What a scheduler of a simulated machine is asked, and what it may ask for: who gets which CPU.
//
// The machine owns time, CPUs and threads; a Scheduler owns the queues of those that could run and
// have no CPU. A thread is on a CPU, in the scheduler's queues, or off both:
//
//         enqueue()                choose(): takes it out
//   off ─────────────▶ in a queue ────────────────────────▶ on a CPU ──▶ stopped() ──▶ off
//                          ▲        choose(): puts it back       │
//                          └──────────────────────────────────────┘
//
// A scheduler hears of each change at the time `now` at which it is, in order of time, and answers at
// once. It must be deterministic, and must not leave a CPU idle beside a thread that may run there, or for
// no longer than its page says.
// One per simulation, single-threaded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulation/machine.h"
#include "simulation/tournament.h"

namespace longpole::simulation {

inline constexpr std::uint32_t no_thread = 0xffffffffU;
__extension__ using WideKey = unsigned __int128;

// Why a thread could not run until now, or no longer can.
enum class OffCpu : std::uint8_t {
  created,  // it starts
  waited,   // for another thread, in a user-level object
  slept,    // for a fixed time in the kernel: sleep, I/O, external wait
  ended,
};

// What schedulers see of the machine, and what they ask of it.
class Cpus {
 public:
  Cpus(const Machine& machine, const Recording& recording);

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(current_.size()); }
  // To wake up an idle CPU takes no time: so it is in program files, where nothing has costs.
  [[nodiscard]] bool wake_at_once() const { return wake_at_once_; }
  // Until a busy CPU learns of a thread that was woken from another; Machine::interrupt.
  [[nodiscard]] std::int64_t interrupt() const { return interrupt_; }
  // For how long the call takes its CPU still that this comes of: of the waker of the thread that is being enqueued, or of
  // the thread that has stopped, as it blocks.
  [[nodiscard]] std::int64_t call_lasts() const { return call_lasts_; }
  // Machine::tick, Machine::idle_look, Machine::packed_use.
  [[nodiscard]] std::int64_t tick() const { return tick_; }
  [[nodiscard]] std::int64_t idle_look() const { return idle_look_; }
  [[nodiscard]] std::int64_t packed_use() const { return packed_use_; }
  [[nodiscard]] std::uint32_t current(std::uint32_t cpu) const { return current_[cpu]; }
  // Without a thread, and not about to choose one.
  [[nodiscard]] bool idle(std::uint32_t cpu) const {
    return (idle_[cpu / 64] >> cpu % 64 & 1) != 0;
  }
  // About to choose: whoever is put into the queues now will be among those that it chooses from.
  [[nodiscard]] bool is_asked(std::uint32_t cpu) const { return is_asked_[cpu]; }
  // The first idle CPU at or after `from`, going round; no_cpu where none is.
  [[nodiscard]] std::uint32_t idle_from(std::uint32_t from) const;
  // Where a scheduler that keeps threads where they were takes one up: on the CPU that it is bound
  // to; else its last one if that is idle, else the first that is, else its last one; and one that
  // has not run yet, on that of its waker.
  [[nodiscard]] std::uint32_t last_or_idle(std::uint32_t thread, std::uint32_t waker) const;

  struct ThreadRules {
    std::uint32_t only_cpu = no_cpu;  // no_cpu: any
    std::int32_t priority = 0;
    std::int32_t nice = 0;
    bool round_robin = false;
    bool bound_to_lwp = false;
    std::uint32_t creator = no_thread;
  };
  [[nodiscard]] const std::vector<ThreadRules>& rules() const { return rules_; }
  [[nodiscard]] const ThreadRules& rules(std::uint32_t thread) const { return rules_[thread]; }
  [[nodiscard]] std::uint32_t last_cpu(std::uint32_t thread) const { return last_cpu_[thread]; }

  // Let `cpu` choose anew: once the scheduler has answered, or the call is over that its thread is
  // in.
  void reschedule(std::uint32_t cpu);
  // Scheduler::timer(cpu) at that time; replaces the one set before. A CPU that nobody competes for
  // needs none. count() in place of a CPU is a timer for all.
  void set_timer(std::uint32_t cpu, std::int64_t time) { timers_.set(cpu, time); }
  void drop_timer(std::uint32_t cpu) { timers_.drop(cpu); }
  // The waker interrupts the busy CPU of the thread that is being enqueued.
  void send_interrupt() { interrupts_ = true; }
  // The thread that is being placed shares a CPU though another one is idle: SimulatedEnd::packed.
  void count_packed() { ++packed_; }

 private:
  template <typename Key>
  friend class EventMachine;

  std::vector<std::uint32_t> current_;   // per CPU
  std::vector<std::uint64_t> idle_;      // a bit a CPU
  std::vector<std::uint32_t> last_cpu_;  // per thread; no_cpu: it has not run
  std::vector<ThreadRules> rules_;
  bool wake_at_once_;
  std::int64_t interrupt_;
  std::int64_t tick_;
  std::int64_t idle_look_;
  std::int64_t packed_use_;
  bool interrupts_ = false;
  std::int64_t call_lasts_ = 0;
  std::uint64_t packed_ = 0;
  std::vector<std::uint32_t> asked_;  // CPUs that must choose anew
  std::vector<bool> is_asked_;
  Tournament<WideKey> timers_;
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // Where `thread` is to be taken up, woken from CPU `waker` (no_cpu: by a timer or at the start).
  [[nodiscard]] virtual std::uint32_t place(std::uint32_t thread, OffCpu was, std::uint32_t waker,
                                            std::int64_t now) = 0;
  // `thread` can run from now on; `cpu` is what place() said. Asks for reschedule() where it should
  // get a CPU now.
  virtual void enqueue(std::uint32_t thread, std::uint32_t cpu, OffCpu was, std::int64_t now) = 0;
  // Who has `cpu` from now on; cpus.current(cpu) is who had it until now and could go on, or
  // no_thread. Where the answer is another, that one is back in the queues.
  [[nodiscard]] virtual std::uint32_t choose(std::uint32_t cpu, std::int64_t now) = 0;
  // `thread` gave up its CPU. The machine then asks choose().
  virtual void stopped(std::uint32_t thread, std::uint32_t cpu, OffCpu why, std::int64_t now) = 0;
  // `thread` was to sleep for a fixed time, and ends instead.
  virtual void cancelled(std::uint32_t /*thread*/, std::int64_t /*now*/) {}
  // The thread on `cpu` offers it to others and could go on.
  virtual void yielded(std::uint32_t cpu, std::int64_t now) = 0;
  virtual void timer(std::uint32_t cpu, std::int64_t now) = 0;
  // The thread on `cpu` is back from a call into the kernel at that time, `now` or later.
  virtual void leaves_kernel(std::uint32_t /*cpu*/, std::int64_t /*at*/, std::int64_t /*now*/) {}

  // Whether `thread` keeps its CPU while it tries again and again for a lock (Event::spins()), until its
  // turn is over. Not where that might never be: it would keep whoever has the lock from its CPU.
  [[nodiscard]] virtual bool may_spin(std::uint32_t /*thread*/) const { return true; }
  // By how much the call is dearer than the machine says, in tenths.
  [[nodiscard]] virtual std::int64_t cost_in_tenths(std::uint32_t /*thread*/,
                                                    const Event& /*event*/) const {
    return 10;
  }
};

[[nodiscard]] std::unique_ptr<Scheduler> make_fifo(Cpus& cpus);
[[nodiscard]] std::unique_ptr<Scheduler> make_linux_2_2(Cpus& cpus);
[[nodiscard]] std::unique_ptr<Scheduler> make_linux_fair(Cpus& cpus, const Machine& machine);
// `lwps` 0: one for each thread.
[[nodiscard]] std::unique_ptr<Scheduler> make_solaris(Cpus& cpus, std::uint32_t lwps);

// The one that the machine names.
[[nodiscard]] std::unique_ptr<Scheduler> make_scheduler(const Machine& machine, Cpus& cpus);

}  // namespace longpole::simulation
