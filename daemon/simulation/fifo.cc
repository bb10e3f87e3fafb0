#include "simulation/fifo.h"

#include <algorithm>
#include <limits>

#include "simulation/dispatch_queue.h"

namespace longpole::simulation {
namespace {

class Fifo final : public Scheduler {
 public:
  explicit Fifo(Cpus& cpus)
      : cpus_(cpus),
        turn_(cpus.rules().size(), 0),
        queue_(cpus.count()),
        promised_(cpus.count(), least) {}

  std::uint32_t place(std::uint32_t thread, OffCpu /*was*/, std::uint32_t waker,
                      std::int64_t /*now*/) override {
    const std::uint32_t cpu = idle_cpu_for(thread);
    if (cpu != no_cpu)
      return cpu;
    const std::uint32_t last = cpus_.last_cpu(thread);
    if (last != no_cpu)
      return last;
    return waker == no_cpu ? 0 : waker;
  }

  void enqueue(std::uint32_t thread, std::uint32_t /*cpu*/, OffCpu /*was*/,
               std::int64_t /*now*/) override {
    turn_[thread] = ++turns_;
    put_in(thread);
  }

  std::uint32_t choose(std::uint32_t cpu, std::int64_t /*now*/) override {
    promised_[cpu] = least;
    const std::uint32_t current = cpus_.current(cpu);
    const DispatchQueue::Place* const first = queue_.first(cpu);
    if (first == nullptr || (current != no_thread && place_of(current).before(*first)))
      return current;
    const std::uint32_t thread = first->who;
    queue_.erase(place_of(thread), cpus_.rules(thread).only_cpu);
    if (current != no_thread)
      put_in(current);
    return thread;
  }

  void stopped(std::uint32_t /*thread*/, std::uint32_t /*cpu*/, OffCpu /*why*/,
               std::int64_t /*now*/) override {}

  void yielded(std::uint32_t cpu, std::int64_t /*now*/) override {
    turn_[cpus_.current(cpu)] = ++turns_;
    cpus_.reschedule(cpu);
  }

  void timer(std::uint32_t /*cpu*/, std::int64_t /*now*/) override {}

  bool may_spin(std::uint32_t /*thread*/) const override { return false; }

 private:
  [[nodiscard]] DispatchQueue::Place place_of(std::uint32_t thread) const {
    return {cpus_.rules(thread).priority, turn_[thread], thread};
  }

  void put_in(std::uint32_t thread) {
    const Cpus::ThreadRules& rules = cpus_.rules(thread);
    queue_.insert(place_of(thread), rules.only_cpu);
    std::uint32_t cpu = idle_cpu_for(thread);
    if (cpu == no_cpu)
      cpu = lowest();
    if (cpus_.current(cpu) == no_thread || priority_on(cpu) < rules.priority) {
      promised_[cpu] = std::max(promised_[cpu], rules.priority);
      cpus_.reschedule(cpu);
    }
  }

  // Of what runs there, or will once it has chosen: two that come at once are not both for one CPU.
  [[nodiscard]] std::int32_t priority_on(std::uint32_t cpu) const {
    return std::max(cpus_.rules(cpus_.current(cpu)).priority, promised_[cpu]);
  }

  // The one that it is bound to, idle or not; else an idle one, its last before others.
  [[nodiscard]] std::uint32_t idle_cpu_for(std::uint32_t thread) const {
    if (cpus_.rules(thread).only_cpu != no_cpu)
      return cpus_.rules(thread).only_cpu;
    const std::uint32_t last = cpus_.last_cpu(thread);
    return last != no_cpu && cpus_.idle(last) ? last : cpus_.idle_from(0);
  }

  // The CPU of the lowest priority, where none is idle.
  [[nodiscard]] std::uint32_t lowest() const {
    std::uint32_t lowest = 0;
    for (std::uint32_t cpu = 1; cpu < cpus_.count(); ++cpu) {
      if (cpus_.current(cpu) != no_thread &&
          (cpus_.current(lowest) == no_thread || priority_on(cpu) < priority_on(lowest)))
        lowest = cpu;
    }
    return lowest;
  }

  static constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();

  Cpus& cpus_;
  std::vector<std::int64_t> turn_;  // per thread: its place among those of its priority
  std::int64_t turns_ = 0;
  DispatchQueue queue_;
  std::vector<std::int32_t>
      promised_;  // per CPU: the highest priority that it was asked for and has not chosen by
};

}  // namespace

std::unique_ptr<Scheduler> make_fifo(Cpus& cpus) {
  return std::make_unique<Fifo>(cpus);
}

}  // namespace longpole::simulation
