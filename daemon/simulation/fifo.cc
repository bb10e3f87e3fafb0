#include "simulation/fifo.h"

#include <set>
#include <tuple>

namespace longpole::simulation {
namespace {

class Fifo final : public Scheduler {
 public:
  explicit Fifo(Cpus& cpus) : cpus_(cpus), turn_(cpus.rules().size(), 0), bound_(cpus.count()) {}

  std::uint32_t place(std::uint32_t thread, OffCpu /*was*/, std::uint32_t waker,
                      std::int64_t /*now*/) override {
    if (cpus_.rules(thread).only_cpu != no_cpu)
      return cpus_.rules(thread).only_cpu;
    const std::uint32_t last = cpus_.last_cpu(thread);
    if (last != no_cpu && cpus_.idle(last))
      return last;
    if (const std::uint32_t idle = cpus_.idle_from(0); idle != no_cpu)
      return idle;
    if (last != no_cpu)
      return last;
    return waker == no_cpu ? 0 : waker;
  }

  void enqueue(std::uint32_t thread, std::uint32_t /*cpu*/, OffCpu /*was*/,
               std::int64_t /*now*/) override {
    turn_[thread] = ++turns_;
    queue_of(thread).insert(entry(thread));
    claim_cpu(thread);
  }

  std::uint32_t choose(std::uint32_t cpu, std::int64_t /*now*/) override {
    const std::uint32_t current = cpus_.current(cpu);
    Queue* best = bound_[cpu].empty() ? nullptr : &bound_[cpu];
    if (!anywhere_.empty() && (best == nullptr || *anywhere_.begin() < *best->begin()))
      best = &anywhere_;
    if (best == nullptr || (current != no_thread && entry(current) < *best->begin()))
      return current;
    const std::uint32_t thread = std::get<2>(*best->begin());
    best->erase(best->begin());
    if (current != no_thread) {
      queue_of(current).insert(entry(current));
      claim_cpu(current);
    }
    return thread;
  }

  void stopped(std::uint32_t /*thread*/, std::uint32_t /*cpu*/, OffCpu /*why*/,
               std::int64_t /*now*/) override {}

  void yielded(std::uint32_t cpu, std::int64_t /*now*/) override {
    turn_[cpus_.current(cpu)] = ++turns_;
    cpus_.reschedule(cpu);
  }

  void timer(std::uint32_t /*cpu*/, std::int64_t /*now*/) override {}

 private:
  // Highest priority first, of one priority by turn.
  using Entry = std::tuple<std::int64_t, std::uint64_t, std::uint32_t>;
  using Queue = std::set<Entry>;

  [[nodiscard]] Entry entry(std::uint32_t thread) const {
    return {-std::int64_t{cpus_.rules(thread).priority}, turn_[thread], thread};
  }
  [[nodiscard]] Queue& queue_of(std::uint32_t thread) {
    const std::uint32_t only = cpus_.rules(thread).only_cpu;
    return only == no_cpu ? anywhere_ : bound_[only];
  }

  // Asks for the CPU that a queued thread should take, if it may take one.
  void claim_cpu(std::uint32_t thread) {
    const auto& rules = cpus_.rules(thread);
    std::uint32_t cpu = rules.only_cpu;
    if (cpu == no_cpu) {
      const std::uint32_t last = cpus_.last_cpu(thread);
      cpu = last != no_cpu && cpus_.idle(last) ? last : cpus_.idle_from(0);
    }
    if (cpu == no_cpu)
      cpu = lowest();
    const std::uint32_t current = cpus_.current(cpu);
    if (current == no_thread || cpus_.rules(current).priority < rules.priority)
      cpus_.reschedule(cpu);
  }

  [[nodiscard]] std::uint32_t lowest() const {
    std::uint32_t lowest = 0;
    for (std::uint32_t cpu = 1; cpu < cpus_.count(); ++cpu) {
      const std::uint32_t current = cpus_.current(cpu);
      if (current != no_thread &&
          (cpus_.current(lowest) == no_thread ||
           cpus_.rules(current).priority < cpus_.rules(cpus_.current(lowest)).priority))
        lowest = cpu;
    }
    return lowest;
  }

  Cpus& cpus_;
  std::vector<std::uint64_t> turn_;  // per thread: its place among those of its priority
  std::uint64_t turns_ = 0;
  Queue anywhere_;
  std::vector<Queue> bound_;  // per CPU
};

}  // namespace

std::unique_ptr<Scheduler> make_fifo(Cpus& cpus) {
  return std::make_unique<Fifo>(cpus);
}

}  // namespace longpole::simulation
