// Moves threads from CPU to CPU (linux_fair.h).
#include <algorithm>
#include <limits>

#include "simulation/linux_fair_scheduler.h"

namespace longpole::simulation {
namespace {

constexpr std::int64_t balance_interval_per_cpu = 16'000'000;
constexpr std::int64_t idle_interval_per_cpu = 1'000'000;
constexpr std::int64_t cache_hot = 500'000;
// So many looks in vain, and what is in a cache is moved all the same.
constexpr std::uint32_t looks_for_hot = 2;
constexpr std::size_t most_at_once = 32;
constexpr std::int64_t any_weight = std::numeric_limits<std::int64_t>::max();

// Ticks come to all CPUs at once; which CPU is through with its own first is chance: a hash of where and when.
std::uint64_t hash_of(std::uint32_t chance, std::uint32_t cpu, std::int64_t tick) {
  constexpr std::uint64_t golden_ratio = 0x9e37'79b9'7f4a'7c15;
  constexpr std::uint64_t mixer = 0xbf58'476d'1ce4'e5b9;
  const std::uint64_t place =
      static_cast<std::uint64_t>(tick) * 64 + cpu + (std::uint64_t{chance} << 48U);
  const std::uint64_t mixed = place * golden_ratio;
  return (mixed ^ (mixed >> 29U)) * mixer;
}

// Half of the time before CPU 0, which counts the ticks for all: then the count is still that of the one before.
bool is_before_count(std::uint32_t chance, std::uint32_t cpu, std::int64_t tick) {
  return cpu != 0 && hash_of(chance, cpu, tick) >> 63U == 0;
}

// A quarter of the time before the other CPUs have changed threads.
bool is_before_others(std::uint32_t chance, std::uint32_t cpu, std::int64_t tick) {
  return hash_of(chance, cpu, tick) >> 62U == 0;
}

bool takes_hot(const FairQueue& queue) {
  return queue.failed_balances >= looks_for_hot;
}

}  // namespace

// Of those that wait on `from` and may run on `to`, the one that waits longest and is not heavier
// than that, whether or not its data is in the cache; no_thread where there is none.
std::uint32_t LinuxFair::movable(std::uint32_t from, std::uint32_t to, Movable which,
                                 std::int64_t now) const {
  const AverageTime average = average_of(from);
  std::uint32_t found = no_thread;
  for (const DeadlineQueue::Entry& entry : queues_[from].fair) {
    const Entity& entity = entities_[entry.thread];
    const bool waits_longer =
        found == no_thread || entity.waits_since < entities_[found].waits_since ||
        (entity.waits_since == entities_[found].waits_since && entry.thread < found);
    if (waits_longer && (which.asleep || !entity.delayed) && may_run(entry.thread, to) &&
        (which.hot || now - entity.ran_until >= cache_hot) &&
        (which.ahead || average.eligible(entry.virtual_time)) &&
        entity.load.at(now) <= which.heaviest)
      found = entry.thread;
  }
  return found;
}

void LinuxFair::move(std::uint32_t thread, std::uint32_t from, std::uint32_t to, std::int64_t now) {
  account(from, now);
  account(to, now);
  const Entity& entity = entities_[thread];
  const std::int64_t ahead = entity.deadline - entity.virtual_time;
  const bool asleep = entity.delayed;
  take_off(thread, from);
  weigh(thread, to, entity.weight, now);
  put_in(thread, to, ahead);
  if (asleep) {
    waiting_ -= entity.moves ? 1 : 0;
    sleep_in_queue(thread, to);
  }
  set_timer(from, now);
}

bool LinuxFair::is_overloaded() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const Queue& queue) { return queue.size() > 1; });
}

// For a CPU that has nothing to do: the one with most to do, of those with a thread that might come.
std::uint32_t LinuxFair::busiest_for(std::uint32_t cpu, std::int64_t now) const {
  std::uint32_t busiest = no_cpu;
  for (std::uint32_t other = 0; other < cpus_.count() && waiting_ > 0; ++other) {
    if (other != cpu && queues_[other].current != no_thread && queues_[other].ready() > 0 &&
        (busiest == no_cpu || load(other) > load(busiest)) &&
        movable(other, cpu, {any_weight, true}, now) != no_thread)
      busiest = other;
  }
  return busiest;
}

// Up to so many from there; how many came.
std::size_t LinuxFair::take(std::uint32_t cpu, std::uint32_t busiest, std::size_t most, bool hot,
                            std::int64_t now) {
  for (std::size_t taken = 0; taken < most; ++taken) {
    const std::uint32_t thread = movable(busiest, cpu, {any_weight, hot}, now);
    if (thread == no_thread)
      return taken;
    move(thread, busiest, cpu, now);
  }
  return most;
}

// A CPU falls idle: whether it took a thread of another one.
bool LinuxFair::pull(std::uint32_t cpu, std::int64_t now) {
  Queue& queue = queues_[cpu];
  if (cpus_.wake_at_once()) {
    const std::uint32_t busiest = busiest_for(cpu, now);
    return busiest != no_cpu && take(cpu, busiest, 1, true, now) > 0;
  }
  if (!may_be_overloaded_ || !queue.newly_idle.looks())
    return false;
  may_be_overloaded_ = is_overloaded();
  const std::uint32_t busiest = busiest_for(cpu, now);
  const bool found = busiest != no_cpu && take(cpu, busiest, 1, takes_hot(queue), now) > 0;
  queue.newly_idle.found(found);
  if (found)
    queue.is_balanced = false;
  if (found || busiest == no_cpu)
    queue.failed_balances = 0;
  return found;
}

// For an idle CPU, at a tick at which another has threads that wait. When it is due again.
std::int64_t LinuxFair::look_while_idle(std::uint32_t cpu, std::int64_t now) {
  Queue& queue = queues_[cpu];
  may_be_overloaded_ = is_overloaded();
  const std::uint32_t busiest = busiest_for(cpu, now);
  queue.is_balanced = busiest == no_cpu;
  queue.last_balance = now;
  if (busiest == no_cpu) {
    queue.failed_balances = 0;
    return now + idle_interval(queue);
  }
  const std::size_t half = queues_[busiest].size() / 2;
  if (take(cpu, busiest, std::min(half, most_at_once), takes_hot(queue), now) == 0) {
    ++queue.failed_balances;
    return now + idle_interval(queue);
  }
  queue.failed_balances = 0;
  cpus_.reschedule(cpu);
  return now + (looks_by_itself() ? idle_interval(queue) : balance_interval(queue));
}

// A tick of a CPU with threads that wait: it tells the idle CPUs, which have no ticks, once the first of them is due
// by what was last found out. When one has joined them since, it is found out anew first.
void LinuxFair::tell_idle(std::int64_t now) {
  const bool is_due = idle_due_ <= now;
  std::int64_t due = never;
  for (std::uint32_t cpu = 0; cpu < cpus_.count(); ++cpu) {
    if (!cpus_.idle(cpu))
      continue;
    std::int64_t next = queues_[cpu].last_balance + idle_interval(queues_[cpu]);
    if (is_due && next <= now)
      next = look_while_idle(cpu, now);
    due = std::min(due, next);
  }
  one_joined_idle_ = false;
  told_until_ = now;
  idle_due_ = due == never ? now + tick_ : due;
}

// The tick at which the idle CPUs are told next, or it is found out when.
std::int64_t LinuxFair::next_idle_tick(std::int64_t now) const {
  const std::int64_t next = (std::max(now, told_until_ + 1) + tick_ - 1) / tick_ * tick_;
  return one_joined_idle_ ? next : std::max(next, idle_due_);
}

// A tick less than it would be, so that larger domains do not keep step with smaller ones.
std::int64_t LinuxFair::balance_interval(const Queue& queue) const {
  const std::int64_t full = balance_interval_per_cpu * cpus_.count();
  return std::max<std::int64_t>(1, (queue.is_balanced ? 2 : 1) * full / tick_ - 1) * tick_;
}

std::int64_t LinuxFair::idle_interval(const Queue& queue) const {
  const std::int64_t full = (queue.is_balanced ? 2 : 1) * idle_interval_per_cpu * cpus_.count();
  return (std::max(full, cpus_.idle_look()) + tick_ - 1) / tick_ * tick_;
}

LinuxFair::Look LinuxFair::next_look(std::uint32_t cpu) const {
  const Queue& queue = queues_[cpu];
  const std::int64_t due = (queue.last_balance + balance_interval(queue)) / tick_;
  const std::int64_t at = due + (is_before_count(chance_, cpu, due) ? 1 : 0);
  const std::int64_t counted = at - (is_before_count(chance_, cpu, at) ? 1 : 0);
  return {at * tick_ - (is_before_others(chance_, cpu, at) ? 1 : 0), counted * tick_};
}

void LinuxFair::set_balance_timer(std::int64_t now) {
  balance_at_ = never;
  for (std::uint32_t cpu = 0; cpu < cpus_.count(); ++cpu) {
    Queue& queue = queues_[cpu];
    if (queue.current == no_thread) {
      balance_at_ = std::min(balance_at_, next_idle_tick(now));
      continue;
    }
    if (next_look(cpu).at <= now)
      queue.last_balance = last_due(queue, balance_interval(queue), now);
    balance_at_ = std::min(balance_at_, next_look(cpu).at);
  }
  balance_at_ = std::max(balance_at_, now);
  cpus_.set_timer(cpus_.count(), balance_at_ - start_);
}

void LinuxFair::fall_idle(std::uint32_t cpu, std::int64_t now) {
  Queue& queue = queues_[cpu];
  // A CPU that was busy for less than a tick was never missed among the idle ones.
  if (looks_by_itself())
    idle_due_ = std::min(idle_due_, queue.last_balance + idle_interval(queue));
  else
    one_joined_idle_ |= now / tick_ != queue.busy_since / tick_;
  queue.is_idle = true;
  queue.idle_since = now;
  told_until_ = now;
  if (waiting_ > 0)
    set_balance_timer(now);
}

void LinuxFair::balance(std::int64_t now) {
  balance_at_ = never;
  if (waiting_ > 0 && now == next_idle_tick(now) && cpus_.idle_from(0) != no_cpu)
    tell_idle(now);
  for (std::uint32_t cpu = 0; cpu < cpus_.count(); ++cpu) {
    Queue& queue = queues_[cpu];
    const Look look = next_look(cpu);
    if (queue.current == no_thread || look.at > now)
      continue;
    queue.is_balanced = !balance_to(cpu, now);
    queue.last_balance = look.counted;
  }
  watch_balance(now);
}

// False: there was nothing to even out.
bool LinuxFair::balance_to(std::uint32_t cpu, std::int64_t now) {
  may_be_overloaded_ = is_overloaded();
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
      own.size_before(now) > 1 && load_of(busiest) * 100 <= load_of(cpu) * imbalance_percent;
  if (imbalance <= 0 || has_spare || is_near) {
    failed = 0;
    return false;
  }
  // Each failure lets something twice as heavy pass. What comes to just that does not: the kernel rounds down.
  const std::int64_t limit = (imbalance << std::min(failed, 8U)) - 1;
  const Movable which{
      .heaviest = limit, .hot = takes_hot(own), .ahead = failed > 0, .asleep = true};
  const std::uint32_t thread = movable(busiest, cpu, which, now);
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
