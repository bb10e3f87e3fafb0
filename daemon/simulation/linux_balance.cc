// Moves threads from CPU to CPU (linux_fair.h).
#include <algorithm>
#include <limits>

#include "simulation/linux_fair_scheduler.h"

namespace longpole::simulation {
namespace {

constexpr std::int64_t balance_interval_per_cpu = 16'000'000;
constexpr std::int64_t imbalance_percent = 117;

}  // namespace

// Of those that wait on `from` and may run on `to`, the one that waits longest and is not heavier
// than that; no_thread where there is none.
std::uint32_t LinuxFair::movable(std::uint32_t from, std::uint32_t to, std::int64_t heaviest,
                                 std::int64_t now) const {
  std::uint32_t found = no_thread;
  for (const DeadlineQueue::Entry& entry : queues_[from].fair) {
    const Entity& entity = entities_[entry.thread];
    const bool waits_longer =
        found == no_thread || entity.waits_since < entities_[found].waits_since ||
        (entity.waits_since == entities_[found].waits_since && entry.thread < found);
    if (waits_longer && !entity.delayed && may_run(entry.thread, to) &&
        entity.load.at(now) <= heaviest)
      found = entry.thread;
  }
  return found;
}

void LinuxFair::move(std::uint32_t thread, std::uint32_t from, std::uint32_t to, std::int64_t now) {
  account(from, now);
  account(to, now);
  const Entity& entity = entities_[thread];
  const std::int64_t ahead = entity.deadline - entity.virtual_time;
  take_off(thread, from);
  weigh(thread, to, entity.weight, now);
  put_in(thread, to, ahead);
  set_timer(from, now);
}

// For a CPU that has nothing to do.
bool LinuxFair::pull(std::uint32_t cpu, std::int64_t now) {
  if (waiting_ == 0)
    return false;
  std::uint32_t heaviest = no_cpu;
  std::uint32_t thread = no_thread;
  for (std::uint32_t other = 0; other < cpus_.count(); ++other) {
    if (other == cpu || queues_[other].current == no_thread || queues_[other].ready() == 0 ||
        (heaviest != no_cpu && load(other) <= load(heaviest)))
      continue;
    if (const std::uint32_t found =
            movable(other, cpu, std::numeric_limits<std::int64_t>::max(), now);
        found != no_thread) {
      heaviest = other;
      thread = found;
    }
  }
  if (thread == no_thread)
    return false;
  move(thread, heaviest, cpu, now);
  return true;
}

// A tick less than it would be, so that larger domains do not keep step with smaller ones.
std::int64_t LinuxFair::balance_interval(const Queue& queue) const {
  const std::int64_t full = balance_interval_per_cpu * cpus_.count();
  return std::max<std::int64_t>(1, (queue.is_balanced ? 2 : 1) * full / tick_ - 1) * tick_;
}

void LinuxFair::set_balance_timer(std::int64_t now) {
  is_watched_ = true;
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (Queue& queue : queues_) {
    if (queue.next_balance <= now) {
      const std::int64_t interval = balance_interval(queue);
      queue.next_balance += ((now - queue.next_balance) / interval + 1) * interval;
    }
    next = std::min(next, queue.next_balance);
  }
  cpus_.set_timer(cpus_.count(), next);
}

void LinuxFair::balance(std::int64_t now) {
  is_watched_ = false;
  for (std::uint32_t cpu = 0; cpu < cpus_.count(); ++cpu) {
    Queue& queue = queues_[cpu];
    if (queue.next_balance > now)
      continue;
    queue.is_balanced = !balance_to(cpu, now);
    queue.next_balance = now + balance_interval(queue);
  }
  watch_balance(now);
}

// False: there was nothing to even out.
bool LinuxFair::balance_to(std::uint32_t cpu, std::int64_t now) {
  const auto load_of = [&](std::uint32_t of) { return queues_[of].load.at(now); };
  std::int64_t total = 0;
  std::uint32_t busiest = cpu;
  for (std::uint32_t other = 0; other < cpus_.count(); ++other) {
    total += load_of(other);
    if (queues_[other].ready() > 0 && load_of(other) > load_of(busiest))
      busiest = other;
  }
  const std::int64_t average = total / cpus_.count();
  const std::int64_t imbalance = std::min(load_of(busiest) - average, average - load_of(cpu));
  std::uint32_t& failed = queues_[cpu].failed_balances;
  if (imbalance <= 0 || load_of(busiest) * 100 <= load_of(cpu) * imbalance_percent) {
    failed = 0;
    return false;
  }
  // Each failure lets something twice as heavy pass.
  const std::int64_t limit = ((imbalance + 1) << std::min(failed, 8U)) - 1;
  const std::uint32_t thread = movable(busiest, cpu, limit, now);
  if (thread == no_thread) {
    ++failed;
    return true;
  }
  failed = 0;
  move(thread, busiest, cpu, now);
  const std::uint32_t current = queues_[cpu].current;
  if (current == no_thread || (!entities_[current].real_time && best(cpu) == thread))
    cpus_.reschedule(cpu);
  else
    set_timer(cpu, now);
  return true;
}

}  // namespace longpole::simulation
