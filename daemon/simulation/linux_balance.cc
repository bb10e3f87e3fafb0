// Moves threads from CPU to CPU (linux_fair.h).
#include <algorithm>
#include <limits>

#include "simulation/linux_fair_scheduler.h"

namespace longpole::simulation {
namespace {

constexpr std::int64_t balance_interval_per_cpu = 16'000'000;
constexpr std::int64_t imbalance_percent = 117;
constexpr std::int64_t cache_hot = 500'000;
// So many looks in vain, and what is in a cache is moved all the same.
constexpr std::uint32_t looks_for_hot = 2;

// Ticks come to all CPUs at once; which CPU is through with its own first is chance: a hash of where and when.
std::uint64_t chance(std::uint32_t cpu, std::int64_t tick) {
  constexpr std::uint64_t golden_ratio = 0x9e37'79b9'7f4a'7c15;
  constexpr std::uint64_t mixer = 0xbf58'476d'1ce4'e5b9;
  const std::uint64_t mixed = (static_cast<std::uint64_t>(tick) * 64 + cpu) * golden_ratio;
  return (mixed ^ (mixed >> 29U)) * mixer;
}

// Half of the time before CPU 0, which counts the ticks for all: then the count is still that of the one before.
bool is_before_count(std::uint32_t cpu, std::int64_t tick) {
  return cpu != 0 && chance(cpu, tick) >> 63U == 0;
}

// A quarter of the time before the other CPUs have changed threads.
bool is_before_others(std::uint32_t cpu, std::int64_t tick) {
  return chance(cpu, tick) >> 62U == 0;
}

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

LinuxFair::Look LinuxFair::next_look(std::uint32_t cpu) const {
  const std::int64_t due = queues_[cpu].next_balance / tick_;
  const std::int64_t at = due + (is_before_count(cpu, due) ? 1 : 0);
  const std::int64_t counted = at - (is_before_count(cpu, at) ? 1 : 0);
  return {at * tick_ - (is_before_others(cpu, at) ? 1 : 0), counted * tick_};
}

void LinuxFair::set_balance_timer(std::int64_t now) {
  is_watched_ = true;
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t cpu = 0; cpu < cpus_.count(); ++cpu) {
    Queue& queue = queues_[cpu];
    if (next_look(cpu).at <= now) {
      const std::int64_t interval = balance_interval(queue);
      queue.next_balance += ((now - queue.next_balance) / interval + 1) * interval;
    }
    next = std::min(next, next_look(cpu).at);
  }
  cpus_.set_timer(cpus_.count(), std::max(next, now));
}

void LinuxFair::balance(std::int64_t now) {
  is_watched_ = false;
  for (std::uint32_t cpu = 0; cpu < cpus_.count(); ++cpu) {
    Queue& queue = queues_[cpu];
    const Look look = next_look(cpu);
    if (look.at > now)
      continue;
    queue.is_balanced = !balance_to(cpu, now);
    queue.next_balance = look.counted + balance_interval(queue);
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
  Queue& own = queues_[cpu];
  std::uint32_t& failed = own.failed_balances;
  const bool has_spare =
      own.ready() == 0 && own.use.at(now) * imbalance_percent < full_use * LoadAverage::unit * 100;
  const bool is_near =
      own.ready() > 0 && load_of(busiest) * 100 <= load_of(cpu) * imbalance_percent;
  if (imbalance <= 0 || has_spare || is_near) {
    failed = 0;
    return false;
  }
  // Each failure lets something twice as heavy pass. What comes to just that does not: the kernel rounds down.
  const std::int64_t limit = (imbalance << std::min(failed, 8U)) - 1;
  const std::uint32_t thread = movable(busiest, cpu, limit, now);
  const bool is_hot = thread != no_thread && failed < looks_for_hot &&
                      now - entities_[thread].ran_until < cache_hot;
  if (thread == no_thread || is_hot) {
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
