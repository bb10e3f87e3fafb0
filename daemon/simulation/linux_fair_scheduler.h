// The `linux` scheduler at work: what linux_fair.h promises. Where threads wake up stands in linux_wake_up.cc,
// what moves them from CPU to CPU in linux_balance.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "simulation/linux_fair.h"
#include "simulation/linux_fair_queue.h"
#include "simulation/linux_real_time.h"
#include "simulation/virtual_time.h"

namespace longpole::simulation {

inline constexpr std::int64_t imbalance_percent = 117;
// What has a CPU weighs so much in averages of use: as finely as loads are counted.
inline constexpr std::int64_t full_use = 1024;

class LinuxFair final : public Scheduler {
 public:
  LinuxFair(Cpus& cpus, const Machine& machine, std::int64_t slice);

  std::uint32_t place(std::uint32_t thread, OffCpu was, std::uint32_t waker,
                      std::int64_t now) override;

  void enqueue(std::uint32_t thread, std::uint32_t cpu, OffCpu was, std::int64_t now) override {
    now += start_;
    Entity& entity = entities_[thread];
    entity.waits_since = now;
    if (entity.real_time) {
      account(cpu, now);
      real_time_.renew(thread);
      real_time_.put_in(thread, cpu);
      set_timer(cpu, now);
      return;
    }
    const bool has_others = !queues_[cpu].fair.empty();
    if (entity.delayed) {
      wake_delayed(thread, cpu, now);
      account(cpu, now);
    } else {
      account(cpu, now);
      weigh(thread, cpu, entity.weight, now);
      put_in(thread, cpu, entity.virtual_slice / (was == OffCpu::created ? 2 : 1));
    }
    may_be_overloaded_ |= queues_[cpu].size() > 1;
    const std::uint32_t current = queues_[cpu].current;
    const auto gives_way = [&] {
      const Entity& running = entities_[current];
      return !running.real_time &&
             ((has_others && running.virtual_time >= running.protected_until) ||
              best(cpu) == thread);
    };
    const bool is_to_choose = current == no_thread || gives_way();
    const std::int64_t hears_after = time_to_hear_of(thread, cpu);
    const bool hears_later = hears_after > 0;
    if (is_to_choose && hears_later) {
      // One that is to choose already is told nothing.
      if (queues_[cpu].interrupted_at == never && entity.waker != cpu)
        cpus_.send_interrupt();
      queues_[cpu].interrupted_at = std::min(queues_[cpu].interrupted_at, now + hears_after);
    }
    if (is_to_choose && !hears_later)
      cpus_.reschedule(cpu);
    else
      set_timer(cpu, now);
    watch_balance(now);
  }

  std::uint32_t choose(std::uint32_t cpu, std::int64_t now) override {
    now += start_;
    account(cpu, now);
    Queue& queue = queues_[cpu];
    queue.interrupted_at = never;
    const std::uint32_t before = queue.current;
    const std::uint32_t thread = next(cpu, now);
    if (thread != before) {
      if (std::exchange(queue.is_idle, false))
        queue.busy_since = now;
      if (before != no_thread) {
        loses_cpu(before, now);
        put_back(before, cpu, now);
      }
      gets_cpu(thread, cpu, now);
      queue.current = thread;
      real_time_.set_current(cpu, is_real_time(thread) ? thread : no_thread);
      if (thread != no_thread)
        take_out(thread, cpu);
    }
    set_timer(cpu, now);
    watch_balance(now);
    if (thread == no_thread)
      fall_idle(cpu, now);
    return thread;
  }

  void stopped(std::uint32_t thread, std::uint32_t cpu, OffCpu why, std::int64_t now) override;

  void yielded(std::uint32_t cpu, std::int64_t now) override {
    now += start_;
    account(cpu, now);
    Entity& entity = entities_[queues_[cpu].current];
    if (entity.real_time) {
      real_time_.renew(queues_[cpu].current);
    } else if (queues_[cpu].fair.empty()) {
      return;
    } else {
      if (average_of(cpu).eligible(entity.virtual_time)) {
        entity.virtual_time = entity.deadline;
        entity.deadline += entity.virtual_slice;
      }
      entity.protected_until = entity.virtual_time;
    }
    cpus_.reschedule(cpu);
  }

  void leaves_kernel(std::uint32_t cpu, std::int64_t at, std::int64_t now) override {
    Queue& queue = queues_[cpu];
    if (queue.interrupted_at == never || queue.interrupted_at <= at + start_)
      return;
    queue.interrupted_at = at + start_;
    account(cpu, now + start_);
    set_timer(cpu, now + start_);
  }

  void timer(std::uint32_t cpu, std::int64_t now) override {
    now += start_;
    if (cpu == cpus_.count()) {
      balance(now);
      return;
    }
    if (is_real_time(queues_[cpu].current)) {
      account(cpu, now);
      real_time_.renew(queues_[cpu].current);
    }
    cpus_.reschedule(cpu);
  }

  bool may_spin(std::uint32_t thread) const override { return !entities_[thread].real_time; }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  using Entity = FairEntity;
  using Queue = FairQueue;
  using Room = FairRoom;

  [[nodiscard]] DeadlineQueue::Entry entry_of(std::uint32_t thread) const {
    const Entity& entity = entities_[thread];
    return {entity.deadline, entity.virtual_time, static_cast<std::int32_t>(entity.weight), thread};
  }
  [[nodiscard]] std::int64_t limited(const Entity& entity, std::int64_t lag) const {
    const std::int64_t limit = virtual_of(std::max(2 * slice_, tick_), entity.weight);
    return std::clamp(lag, -limit, limit);
  }
  // How long the CPU goes on before it knows of the thread that was put into its queue.
  [[nodiscard]] std::int64_t time_to_hear_of(std::uint32_t thread, std::uint32_t cpu) const {
    if (queues_[cpu].current == no_thread)
      return 0;
    const std::uint32_t waker = entities_[thread].waker;
    return waker == no_cpu || waker == cpu ? cpus_.call_lasts() : cpus_.interrupt();
  }
  [[nodiscard]] bool is_real_time(std::uint32_t thread) const {
    return thread != no_thread && entities_[thread].real_time;
  }
  [[nodiscard]] std::int64_t running_weight(const Queue& queue) const {
    if (queue.current == no_thread || is_real_time(queue.current))
      return 0;
    return entities_[queue.current].weight;
  }
  // What can run there, by weight.
  [[nodiscard]] std::int64_t load(std::uint32_t cpu) const {
    const Queue& queue = queues_[cpu];
    return queue.fair.weight() - queue.delayed_weight + running_weight(queue);
  }
  [[nodiscard]] AverageTime average_of(std::uint32_t cpu) const {
    const Queue& queue = queues_[cpu];
    AverageTime average{queue.fair.weighted_time(), queue.fair.weight(), queue.floor};
    if (const std::int64_t weight = running_weight(queue); weight != 0)
      average.add(entities_[queue.current].virtual_time, weight);
    return average;
  }

  // Charges who has the CPU for the time since it was last charged.
  void account(std::uint32_t cpu, std::int64_t now) {
    Queue& queue = queues_[cpu];
    const std::int64_t since = queue.accounted;
    queue.accounted = std::max(since, now);
    if (queue.current == no_thread || since >= now)
      return;
    Entity& entity = entities_[queue.current];
    if (entity.real_time) {
      real_time_.charge(cpu, now - since);
      return;
    }
    const std::int64_t before = entity.virtual_time;
    entity.virtual_time += virtual_of(now - since, entity.weight);
    if (entity.virtual_time < entity.deadline)
      return;
    // A deadline that has been reached is renewed at the next tick, and so on from there.
    const std::int64_t reached =
        since + real_of(std::max<std::int64_t>(0, entity.deadline - before), entity.weight);
    const std::int64_t first = (reached + tick_ - 1) / tick_;
    if (const std::int64_t last = now / tick_; first <= last) {
      const std::int64_t ticks_of_slice = (slice_ + tick_ - 1) / tick_;
      const std::int64_t renewed =
          (first + (last - first) / ticks_of_slice * ticks_of_slice) * tick_;
      entity.deadline = before + virtual_of(renewed - since, entity.weight) + entity.virtual_slice;
    }
    if (entity.virtual_time >= entity.deadline)
      entity.deadline = entity.virtual_time + entity.virtual_slice;
  }

  // From now on the thread's load is part of the CPU's, with such a weight: 0 when it is in no queue.
  void weigh(std::uint32_t thread, std::uint32_t cpu, std::int64_t weight, std::int64_t now) {
    if (cpus_.count() == 1)
      return;
    Entity& entity = entities_[thread];
    const std::uint32_t left = std::exchange(entity.weighs_on, cpu);
    if (left == no_cpu)
      entity.load.start(entity.weight * LoadAverage::unit, now);
    const std::int64_t before = entity.load.weight();
    entity.load.set_weight(weight, now);
    if (left != cpu && left != no_cpu) {
      LoadAverage& there = queues_[left].load;
      there.set_weight(there.weight() - before, now);
      there.add(-entity.load.last(), now);
      queues_[left].use.add(-entity.use.at(now), now);
    }
    LoadAverage& here = queues_[cpu].load;
    here.set_weight(here.weight() + weight - (left == cpu ? before : 0), now);
    if (left == cpu)
      return;
    here.add(entity.load.last(), now);
    LoadAverage& use = queues_[cpu].use;
    if (left == no_cpu)
      entity.use.start(std::max<std::int64_t>(0, full_use * LoadAverage::unit - use.at(now)) / 2,
                       now);
    use.add(entity.use.at(now), now);
  }

  void loses_cpu(std::uint32_t thread, std::int64_t now) {
    Entity& entity = entities_[thread];
    entity.ran_until = now;
    if (cpus_.count() > 1)
      entity.use.set_weight(0, now);
  }
  // Nobody does where that is no_thread.
  void gets_cpu(std::uint32_t thread, std::uint32_t cpu, std::int64_t now) {
    if (cpus_.count() == 1)
      return;
    const bool is_used = thread != no_thread && !entities_[thread].real_time;
    if (is_used)
      entities_[thread].use.set_weight(full_use, now);
    LoadAverage& use = queues_[cpu].use;
    if ((use.weight() != 0) != is_used)
      use.set_weight(is_used ? full_use : 0, now);
  }

  // Of the fair threads; no_thread where there is none.
  [[nodiscard]] std::uint32_t best(std::uint32_t cpu) const {
    const Queue& queue = queues_[cpu];
    const bool has_current = running_weight(queue) != 0;
    if (queue.fair.empty())
      return has_current ? queue.current : no_thread;
    const AverageTime average = average_of(cpu);
    const Entity* current = has_current ? &entities_[queue.current] : nullptr;
    if (current != nullptr && !average.eligible(current->virtual_time))
      current = nullptr;
    if (current != nullptr && current->virtual_time < current->protected_until)
      return queue.current;
    // The first is nearly always eligible: deadlines come in much the order of virtual times.
    const auto* const first = std::find_if(
        queue.fair.begin(), queue.fair.end(),
        [&](const DeadlineQueue::Entry& entry) { return average.eligible(entry.virtual_time); });
    if (first == queue.fair.end() || (current != nullptr && current->deadline < first->deadline))
      return queue.current;
    return first->thread;
  }

  // Who is to have the CPU; takes one from another CPU where it would be idle.
  std::uint32_t next(std::uint32_t cpu, std::int64_t now) {
    if (real_time_.matter_to(cpu)) [[unlikely]] {
      const std::uint32_t thread = real_time_.next(cpu);
      if (thread != no_thread)
        return thread;
    }
    for (;;) {
      const std::uint32_t thread = best(cpu);
      if (thread == no_thread)
        return pull(cpu, now) ? best(cpu) : no_thread;
      if (!entities_[thread].delayed)
        return thread;
      take_off(thread, cpu);
      weigh(thread, cpu, 0, now);
      Queue& queue = queues_[cpu];
      if (std::exchange(queue.left_at, now) != now)
        queue.left = 0;
      ++queue.left;
    }
  }

  void take_out(std::uint32_t thread, std::uint32_t cpu) {
    Entity& entity = entities_[thread];
    if (entity.real_time) {
      real_time_.take_out(thread, cpu);
      return;
    }
    queues_[cpu].fair.erase(entry_of(thread));
    waiting_ -= entity.moves ? 1 : 0;
    entity.protected_until = entity.deadline;
  }

  void put_back(std::uint32_t thread, std::uint32_t cpu, std::int64_t now) {
    Entity& entity = entities_[thread];
    entity.waits_since = now;
    queues_[cpu].current = no_thread;
    if (entity.real_time) {
      real_time_.set_current(cpu, no_thread);
      real_time_.put_in(thread, real_time_.place(thread));
      return;
    }
    queues_[cpu].fair.insert(entry_of(thread));
    waiting_ += entity.moves ? 1 : 0;
    const std::uint32_t idle = cpus_.idle_from(0);
    if (idle == no_cpu || !may_run(thread, idle))
      return;
    if (cpus_.wake_at_once())
      cpus_.reschedule(idle);
    else
      set_balance_timer(now);
  }

  // Into the queue of a CPU, with the lag that it had when it left one.
  void put_in(std::uint32_t thread, std::uint32_t cpu, std::int64_t deadline_ahead) {
    Entity& entity = entities_[thread];
    const AverageTime average = average_of(cpu);
    // It moves the average by being there; so much more lag leaves it with its own.
    const WideTime lag =
        average.weight == 0
            ? 0
            : WideTime{entity.lag} * (average.weight + entity.weight) / average.weight;
    entity.virtual_time = average.time() - static_cast<std::int64_t>(lag);
    entity.deadline = entity.virtual_time + deadline_ahead;
    queues_[cpu].fair.insert(entry_of(thread));
    waiting_ += entity.moves ? 1 : 0;
  }

  // Out of the queue of a CPU, where it waits or sleeps.
  void take_off(std::uint32_t thread, std::uint32_t cpu) {
    Entity& entity = entities_[thread];
    Queue& queue = queues_[cpu];
    entity.lag = limited(entity, average_of(cpu).time() - entity.virtual_time);
    queue.floor = entity.virtual_time;
    queue.fair.erase(entry_of(thread));
    if (!entity.delayed) {
      waiting_ -= entity.moves ? 1 : 0;
      return;
    }
    entity.delayed = false;
    entity.lag = std::min<std::int64_t>(entity.lag, 0);
    --queue.delayed;
    queue.delayed_weight -= entity.weight;
  }

  // Who stands in it.
  void sleep_in_queue(std::uint32_t thread, std::uint32_t cpu) {
    entities_[thread].delayed = true;
    queues_[cpu].delayed_weight += entities_[thread].weight;
    ++queues_[cpu].delayed;
  }
  // Where the thread ran last, or was moved to in its sleep; no_cpu where it never ran.
  [[nodiscard]] std::uint32_t home_of(std::uint32_t thread) const {
    return cpus_.count() == 1 ? cpus_.last_cpu(thread) : entities_[thread].weighs_on;
  }

  [[nodiscard]] bool may_run(std::uint32_t thread, std::uint32_t cpu) const {
    const std::uint32_t only = cpus_.rules(thread).only_cpu;
    return only == no_cpu || only == cpu;
  }

  // linux_wake_up.cc: into a queue.
  [[nodiscard]] bool joins(std::uint32_t thread, std::uint32_t cpu, std::int64_t now) const;
  [[nodiscard]] std::uint32_t for_new(std::uint32_t creator, std::int64_t now) const;
  [[nodiscard]] Room room_on(std::uint32_t cpu, std::int64_t now) const;
  void wake_delayed(std::uint32_t thread, std::uint32_t cpu, std::int64_t now);
  [[nodiscard]] std::uint32_t idle_near(std::uint32_t target, std::uint32_t last, Entity& entity,
                                        std::int64_t now);
  [[nodiscard]] bool evened_out_by(std::int64_t tick) const;
  [[nodiscard]] std::uint32_t looked_at(std::int64_t now);

  // linux_balance.cc: from queue to queue.
  struct Movable {
    std::int64_t heaviest;
    bool hot;             // also what is in the cache of the CPU where it waits
    bool ahead = true;    // also who is ahead of the average there, and would be here
    bool asleep = false;  // also who sleeps there, in its queue
  };
  [[nodiscard]] std::uint32_t movable(std::uint32_t from, std::uint32_t to, Movable which,
                                      std::int64_t now) const;
  void move(std::uint32_t thread, std::uint32_t from, std::uint32_t to, std::int64_t now);
  [[nodiscard]] bool is_overloaded() const;
  [[nodiscard]] std::uint32_t busiest_for(std::uint32_t cpu, std::int64_t now) const;
  std::size_t take(std::uint32_t cpu, std::uint32_t busiest, std::size_t most, bool hot,
                   std::int64_t now);
  bool pull(std::uint32_t cpu, std::int64_t now);
  std::int64_t look_while_idle(std::uint32_t cpu, std::int64_t now);
  void tell_idle(std::int64_t now);
  // An idle CPU keeps its ticks, and is not told of those of others.
  [[nodiscard]] bool looks_by_itself() const { return cpus_.idle_look() > 0; }
  [[nodiscard]] std::int64_t next_idle_tick(std::int64_t now) const;
  [[nodiscard]] std::int64_t balance_interval(const Queue& queue) const;
  [[nodiscard]] std::int64_t idle_interval(const Queue& queue) const;
  // When a CPU that looks so often was due to last.
  [[nodiscard]] static std::int64_t last_due(const Queue& queue, std::int64_t interval,
                                             std::int64_t now) {
    return queue.last_balance + (now - queue.last_balance) / interval * interval;
  }
  struct Look {
    std::int64_t at;
    std::int64_t counted;  // the tick that it takes for the last one
  };
  [[nodiscard]] Look next_look(std::uint32_t cpu) const;
  void watch_balance(std::int64_t now) {
    if (balance_at_ == never && waiting_ > 0 && cpus_.count() > 1)
      set_balance_timer(now);
  }
  void set_balance_timer(std::int64_t now);
  void fall_idle(std::uint32_t cpu, std::int64_t now);
  void balance(std::int64_t now);
  bool balance_to(std::uint32_t cpu, std::int64_t now);

  // At the tick at which who has the CPU has used up its slice, if anyone competes, or before by an interrupt.
  void set_timer(std::uint32_t cpu, std::int64_t now) {
    Queue& queue = queues_[cpu];
    if (queue.current == no_thread) {
      cpus_.drop_timer(cpu);
      return;
    }
    const Entity& entity = entities_[queue.current];
    if (entity.real_time) {
      if (const std::int64_t left = real_time_.slice_left(cpu); left >= 0)
        cpus_.set_timer(cpu, now + left - start_);
      else
        cpus_.drop_timer(cpu);
      return;
    }
    if (queue.fair.empty()) {
      // Who it was for was taken by another CPU.
      queue.interrupted_at = never;
      cpus_.drop_timer(cpu);
      return;
    }
    const std::int64_t left = std::max<std::int64_t>(
        1, real_of(entity.protected_until - entity.virtual_time, entity.weight));
    cpus_.set_timer(
        cpu, std::min(queue.interrupted_at, (now + left + tick_ - 1) / tick_ * tick_) - start_);
  }

  Cpus& cpus_;
  std::int64_t tick_;
  std::int64_t slice_;
  std::uint32_t chance_;
  // Here ticks come at multiples of tick_, and the run began at that time.
  std::int64_t start_;
  std::vector<Entity> entities_;
  std::vector<Queue> queues_;
  RealTimeQueues real_time_;
  std::size_t waiting_ = 0;          // fair threads that could run, on any CPU, and have none
  std::int64_t balance_at_ = never;  // when the timer of the next balance comes
  // When the first idle CPU is due to look, as last found out; whether one has joined them since.
  std::int64_t idle_due_ = 0;
  bool one_joined_idle_ = false;
  std::int64_t told_until_ = -1;  // no tick up to then tells them
  // A queue held two threads when that was looked at last, or has since.
  bool may_be_overloaded_ = false;
  std::uint32_t looked_at_;  // looked_at(), as of that tick; before the run the CPUs were idle
  std::int64_t looked_at_as_of_ = 0;
};

}  // namespace longpole::simulation
