#include "simulation/linux_2_2.h"

#include <algorithm>
#include <limits>

namespace longpole::simulation {
namespace {

constexpr std::int64_t tick = 10'000'000;
constexpr std::int64_t default_ticks = 20;
constexpr std::int64_t same_cpu_bonus = 15;
constexpr std::int64_t real_time_goodness = 1000;

class Linux22 final : public Scheduler {
 public:
  explicit Linux22(Cpus& cpus)
      : cpus_(cpus), states_(cpus.rules().size()), since_(cpus.count(), 0) {
    for (std::size_t t = 0; t < states_.size(); ++t)
      states_[t].left = slice_of(ticks_of(static_cast<std::uint32_t>(t)));
  }

  std::uint32_t place(std::uint32_t thread, OffCpu /*was*/, std::uint32_t waker,
                      std::int64_t /*now*/) override {
    return cpus_.last_or_idle(thread, waker);
  }

  void enqueue(std::uint32_t thread, std::uint32_t /*cpu*/, OffCpu was, std::int64_t now) override {
    for (std::uint32_t other = 0; other < cpus_.count(); ++other)
      charge(other, now);
    if (was == OffCpu::created)
      share_slice(thread, now);
    list_.insert(list_.begin(), thread);
    const std::uint32_t last = cpus_.last_cpu(thread);
    std::uint32_t target = cpus_.rules(thread).only_cpu;
    if (target != no_cpu) {
      if (cpus_.current(target) != no_thread && exceeds(thread, target) <= 0)
        return;
    } else if (last != no_cpu && cpus_.idle(last)) {
      target = last;
    } else {
      target = cpus_.idle_from(0);
    }
    if (target == no_cpu)
      target = most_exceeded(thread);
    if (target != no_cpu)
      cpus_.reschedule(target);
  }

  std::uint32_t choose(std::uint32_t cpu, std::int64_t now) override {
    charge(cpu, now);
    const std::uint32_t current = cpus_.current(cpu);
    std::uint32_t thread = no_thread;
    std::int64_t best = goodness_of_best(cpu, current, thread);
    if (thread == current && current != no_thread)
      best = goodness(current, cpu);
    if (thread != no_thread && best == 0) {
      for (std::uint32_t t = 0; t < states_.size(); ++t)
        states_[t].left = slice_of(counter(t) / 2 + ticks_of(t));
      static_cast<void>(goodness_of_best(cpu, current, thread));
    }
    if (current != no_thread)
      states_[current].yields = false;
    if (thread == no_thread) {
      cpus_.drop_timer(cpu);
      return no_thread;
    }
    if (is_fifo(thread))
      cpus_.drop_timer(cpu);
    else
      cpus_.set_timer(cpu, now + states_[thread].left);
    states_[thread].cpu = cpu;
    if (current != no_thread && current != thread) {
      states_[current].cpu = no_cpu;
      find_another_cpu(current);
    }
    return thread;
  }

  void stopped(std::uint32_t thread, std::uint32_t cpu, OffCpu /*why*/, std::int64_t now) override {
    charge(thread, cpu, now);
    states_[thread].cpu = no_cpu;
    list_.erase(std::find(list_.begin(), list_.end(), thread));
  }

  void yielded(std::uint32_t cpu, std::int64_t now) override {
    charge(cpu, now);
    states_[cpus_.current(cpu)].yields = true;
    move_last(cpus_.current(cpu));
    cpus_.reschedule(cpu);
  }

  // The slice of the CPU's thread is used up.
  void timer(std::uint32_t cpu, std::int64_t now) override {
    charge(cpu, now);
    const std::uint32_t current = cpus_.current(cpu);
    if (is_real_time(current)) {
      states_[current].left = slice_of(ticks_of(current));
      move_last(current);
      states_[current].yields = true;
    }
    cpus_.reschedule(cpu);
  }

  bool may_spin(std::uint32_t thread) const override { return !is_real_time(thread); }

 private:
  struct State {
    std::int64_t left = 0;  // of its slice
    std::uint32_t cpu = no_cpu;
    bool yields = false;
  };

  static std::int64_t slice_of(std::int64_t ticks) { return (ticks + 1) * tick; }
  [[nodiscard]] std::int64_t ticks_of(std::uint32_t thread) const {
    return default_ticks - cpus_.rules(thread).nice;
  }
  // Whole ticks left, after the one that is running.
  [[nodiscard]] std::int64_t counter(std::uint32_t thread) const {
    return std::max<std::int64_t>(0, (states_[thread].left + tick - 1) / tick - 1);
  }
  [[nodiscard]] bool is_real_time(std::uint32_t thread) const {
    return cpus_.rules(thread).priority > 0;
  }
  [[nodiscard]] bool is_fifo(std::uint32_t thread) const {
    return is_real_time(thread) && !cpus_.rules(thread).round_robin;
  }

  [[nodiscard]] std::int64_t goodness(std::uint32_t thread, std::uint32_t cpu) const {
    if (is_real_time(thread))
      return real_time_goodness + cpus_.rules(thread).priority;
    const std::int64_t left = counter(thread);
    if (left == 0)
      return 0;
    return left + ticks_of(thread) + (cpus_.last_cpu(thread) == cpu ? same_cpu_bonus : 0);
  }

  // Of those that `cpu` may take; `thread` is no_thread where there is none.
  [[nodiscard]] std::int64_t goodness_of_best(std::uint32_t cpu, std::uint32_t current,
                                              std::uint32_t& thread) const {
    std::int64_t best = -1;
    thread = current;
    if (current != no_thread)
      best = goodness(current, cpu);
    // Who yields lets its equals pass, and all others that are not real-time ones if it is none.
    if (current != no_thread && states_[current].yields)
      best = is_real_time(current) ? best - 1 : 0;
    for (const std::uint32_t other : list_) {
      const std::uint32_t only = cpus_.rules(other).only_cpu;
      if (states_[other].cpu != no_cpu || (only != no_cpu && only != cpu))
        continue;
      if (const std::int64_t its = goodness(other, cpu); its > best) {
        best = its;
        thread = other;
      }
    }
    return best;
  }

  [[nodiscard]] std::int64_t exceeds(std::uint32_t thread, std::uint32_t cpu) const {
    return goodness(thread, cpu) - goodness(cpus_.current(cpu), cpu);
  }

  [[nodiscard]] std::uint32_t most_exceeded(std::uint32_t thread) const {
    std::uint32_t found = no_cpu;
    std::int64_t most = 0;
    for (std::uint32_t cpu = 0; cpu < cpus_.count(); ++cpu) {
      if (cpus_.current(cpu) == no_thread)
        continue;
      if (const std::int64_t by = exceeds(thread, cpu); by > most) {
        most = by;
        found = cpu;
      }
    }
    return found;
  }

  // One that lost its CPU to a thread bound there may find another idle.
  void find_another_cpu(std::uint32_t thread) {
    const std::uint32_t idle = cpus_.idle_from(0);
    if (idle != no_cpu && cpus_.rules(thread).only_cpu == no_cpu)
      cpus_.reschedule(idle);
  }

  void share_slice(std::uint32_t thread, std::int64_t now) {
    const std::uint32_t creator = cpus_.rules(thread).creator;
    if (creator == no_thread || states_[creator].cpu == no_cpu)
      return;
    states_[creator].left = states_[thread].left = slice_of(counter(creator) / 2);
    if (!is_fifo(creator))
      cpus_.set_timer(states_[creator].cpu, now + states_[creator].left);
  }

  void move_last(std::uint32_t thread) {
    list_.erase(std::find(list_.begin(), list_.end(), thread));
    list_.push_back(thread);
  }

  void charge(std::uint32_t cpu, std::int64_t now) {
    if (cpus_.current(cpu) == no_thread)
      since_[cpu] = now;
    else
      charge(cpus_.current(cpu), cpu, now);
  }
  void charge(std::uint32_t thread, std::uint32_t cpu, std::int64_t now) {
    states_[thread].left = std::max<std::int64_t>(0, states_[thread].left - (now - since_[cpu]));
    since_[cpu] = now;
  }

  Cpus& cpus_;
  std::vector<State> states_;        // per thread
  std::vector<std::int64_t> since_;  // per CPU: up to here its thread was charged
  std::vector<std::uint32_t> list_;  // of those that run or could
};

}  // namespace

std::unique_ptr<Scheduler> make_linux_2_2(Cpus& cpus) {
  return std::make_unique<Linux22>(cpus);
}

}  // namespace longpole::simulation
