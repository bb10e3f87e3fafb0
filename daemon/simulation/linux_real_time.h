// The threads of the real-time classes of the `linux` scheduler (linux_fair.h): SCHED_FIFO and
// SCHED_RR, a queue a CPU. Those that wait move to where they may run: when they become able to, and again when
// the CPU was taken before they came, to the one that runs the least important; later, to the first CPU that would run
// something less important than they.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "simulation/scheduler.h"

namespace longpole::simulation {

class RealTimeQueues {
 public:
  explicit RealTimeQueues(Cpus& cpus);

  [[nodiscard]] bool has(std::uint32_t thread) const { return cpus_.rules(thread).priority > 0; }
  // Whether `cpu` runs one, or one waits anywhere: else there is nothing to ask.
  [[nodiscard]] bool matter_to(std::uint32_t cpu) const {
    return waiting_ > 0 || queues_[cpu].current != no_thread;
  }

  // Where the thread should go: its last CPU unless others run less important threads.
  [[nodiscard]] std::uint32_t place(std::uint32_t thread) const;
  // It becomes able to run, or yields, or has used up its slice: behind its equals.
  void renew(std::uint32_t thread);
  // Asks for the CPU where the thread is more important than who has it; else who waits there goes to CPUs that run
  // something less important.
  void put_in(std::uint32_t thread, std::uint32_t cpu);
  // The highest that may have the CPU now, no_thread where there is none. Brings it here.
  [[nodiscard]] std::uint32_t next(std::uint32_t cpu);
  void take_out(std::uint32_t thread, std::uint32_t cpu);

  // Who has the CPU, if it is one of them; and the time for which it had it.
  void set_current(std::uint32_t cpu, std::uint32_t thread) { queues_[cpu].current = thread; }
  void charge(std::uint32_t cpu, std::int64_t time);
  // What is left of the slice of who has the CPU, where others compete for it; below 0: no slice ends.
  [[nodiscard]] std::int64_t slice_left(std::uint32_t cpu) const;

 private:
  // Highest priority first, of one priority by turn.
  using Entry = std::tuple<std::int64_t, std::uint64_t, std::uint32_t>;
  struct Queue {
    std::set<Entry> waiting;
    std::uint32_t current = no_thread;
  };
  struct State {
    std::uint64_t turn = 0;
    std::int64_t slice_left = 0;
  };

  [[nodiscard]] Entry entry_of(std::uint32_t thread) const;
  [[nodiscard]] std::int64_t importance(std::uint32_t cpu) const;
  void push(std::uint32_t cpu);

  Cpus& cpus_;
  std::vector<Queue> queues_;
  std::vector<State> states_;  // per thread
  std::uint64_t turns_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace longpole::simulation
