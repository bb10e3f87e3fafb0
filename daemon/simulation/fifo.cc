#include "simulation/fifo.h"

#include <algorithm>

#include "simulation/dispatch_queue.h"

namespace longpole::simulation {
namespace {

class Fifo final : public Scheduler {
 public:
  explicit Fifo(Cpus& cpus)
      : cpus_(cpus),
        has_priorities_(std::any_of(cpus.rules().begin(), cpus.rules().end(),
                                    [&](const Cpus::ThreadRules& rules) {
                                      return rules.priority != cpus.rules().front().priority;
                                    })),
        turn_(cpus.rules().size(), 0),
        queue_(cpus.count()) {}

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
    queue_.insert(place_of(thread), cpus_.rules(thread).only_cpu);
    claim_cpu(thread);
  }

  std::uint32_t choose(std::uint32_t cpu, std::int64_t /*now*/) override {
    const std::uint32_t current = cpus_.current(cpu);
    const DispatchQueue::Place* const first = queue_.first(cpu);
    if (first == nullptr || (current != no_thread && place_of(current).before(*first)))
      return current;
    const std::uint32_t thread = first->who;
    queue_.erase(place_of(thread), cpus_.rules(thread).only_cpu);
    if (current != no_thread)
      queue_.insert(place_of(current), cpus_.rules(current).only_cpu);
    // Whoever had it, or had claimed it and did not get it, may have another.
    if (const DispatchQueue::Place* const next = queue_.first_of_any(); next != nullptr)
      claim_cpu(next->who, cpu);
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

  // `given`: a CPU that has just been given to another.
  void claim_cpu(std::uint32_t thread, std::uint32_t given = no_cpu) {
    std::uint32_t cpu = idle_cpu_for(thread);
    if (cpu == no_cpu && has_priorities_)
      cpu = lowest(given);
    if (cpu == no_cpu || cpu == given)
      return;
    const std::uint32_t current = cpus_.current(cpu);
    if (current == no_thread || cpus_.rules(current).priority < cpus_.rules(thread).priority)
      cpus_.reschedule(cpu);
  }

  // The one that it is bound to, idle or not; else an idle one, its last before others.
  [[nodiscard]] std::uint32_t idle_cpu_for(std::uint32_t thread) const {
    if (cpus_.rules(thread).only_cpu != no_cpu)
      return cpus_.rules(thread).only_cpu;
    const std::uint32_t last = cpus_.last_cpu(thread);
    return last != no_cpu && cpus_.idle(last) ? last : cpus_.idle_from(0);
  }

  // The CPU that runs the lowest priority, where none is idle, of those that nobody has claimed; no_cpu: there is none.
  [[nodiscard]] std::uint32_t lowest(std::uint32_t given) const {
    std::uint32_t lowest = no_cpu;
    for (std::uint32_t cpu = 0; cpu < cpus_.count(); ++cpu) {
      if (cpu != given && !cpus_.is_asked(cpu) &&
          (lowest == no_cpu || priority_on(cpu) < priority_on(lowest)))
        lowest = cpu;
    }
    return lowest;
  }

  [[nodiscard]] std::int32_t priority_on(std::uint32_t cpu) const {
    return cpus_.rules(cpus_.current(cpu)).priority;
  }

  Cpus& cpus_;
  bool has_priorities_;             // not all are the same
  std::vector<std::int64_t> turn_;  // per thread: its place among those of its priority
  std::int64_t turns_ = 0;
  DispatchQueue queue_;
};

}  // namespace

std::unique_ptr<Scheduler> make_fifo(Cpus& cpus) {
  return std::make_unique<Fifo>(cpus);
}

}  // namespace longpole::simulation
