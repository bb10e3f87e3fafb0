// Where a thread wakes up (linux_fair.h).
#include <algorithm>
#include <utility>

#include "simulation/linux_fair_scheduler.h"

namespace longpole::simulation {
namespace {

constexpr std::int64_t wake_bias_percent = 108;

}  // namespace

std::uint32_t LinuxFair::place(std::uint32_t thread, OffCpu was, std::uint32_t waker,
                               std::int64_t now) {
  now += start_;
  Entity& entity = entities_[thread];
  entity.waker = waker;
  if (entity.real_time)
    return real_time_.place(thread);
  const std::uint32_t only = cpus_.rules(thread).only_cpu;
  if (only != no_cpu)
    return only;
  if (waker != no_cpu && joins(thread, waker, now)) {
    if (cpus_.idle_from(0) != no_cpu)
      cpus_.count_packed();
    return waker;
  }
  const std::uint32_t last = home_of(thread);
  if (was == OffCpu::created || last == no_cpu)
    return for_new(waker == no_cpu ? 0 : waker, now);
  if (cpus_.idle(last))
    return last;
  const std::int64_t own = entity.load.last();
  const bool waker_is_lighter =
      waker != no_cpu && (queues_[waker].load.at(now) + own) * 100 <
                             (queues_[last].load.at(now) - own) * wake_bias_percent;
  const std::uint32_t target = waker_is_lighter ? waker : last;
  const std::uint32_t idle = idle_near(target, last, entity, now);
  if (idle != no_cpu)
    return idle;
  return entity.delayed ? last : target;
}

// Whether it is to share that CPU with the only thread there, where they use it little, rather than wake up an idle one.
bool LinuxFair::joins(std::uint32_t thread, std::uint32_t cpu, std::int64_t now) const {
  const Queue& queue = queues_[cpu];
  if (cpus_.packed_use() == 0 || queue.current == no_thread || queue.size() != 1 ||
      is_real_time(queue.current))
    return false;
  const Entity& entity = entities_[thread];
  const std::int64_t use = queue.use.at(now) + (entity.weighs_on == cpu ? 0 : entity.use.at(now));
  const std::int64_t expected = entities_[queue.current].expected_use + entity.expected_use;
  constexpr std::int64_t second = 1'000'000'000;
  return WideTime{std::max(use, expected)} * second <
         WideTime{full_use * LoadAverage::unit} * cpus_.packed_use();
}

std::uint32_t LinuxFair::for_new(std::uint32_t creator, std::int64_t now) const {
  if (const std::uint32_t idle = cpus_.idle_from(creator); idle != no_cpu)
    return idle;
  const Room own = room_on(creator, now);
  Room most = own;
  std::uint32_t roomiest = creator;
  for (std::uint32_t i = 1; i < cpus_.count(); ++i) {
    const std::uint32_t cpu = (creator + i) % cpus_.count();
    const Room room = room_on(cpu, now);
    if (roomiest == creator || room < most) {
      most = room;
      roomiest = cpu;
    }
  }
  const bool is_better =
      most.kind == own.kind
          ? own.kind != Room::Kind::some && own.taken * 100 > most.taken * imbalance_percent
          : most.kind < own.kind;
  return is_better ? roomiest : creator;
}

LinuxFair::Room LinuxFair::room_on(std::uint32_t cpu, std::int64_t now) const {
  constexpr std::int64_t whole = full_use * LoadAverage::unit;
  const Queue& queue = queues_[cpu];
  const std::int64_t use = queue.use.at(now);
  const std::int64_t load = queue.load.at(now);
  // How many could run, as if all weighed as much.
  std::int64_t could_run = load;
  if (const std::int64_t weight = queue.load.weight(); weight > 0)
    could_run = static_cast<std::int64_t>(WideTime{load} * weight_of_nice_0 *
                                          static_cast<std::int64_t>(queue.size()) / weight);
  const bool is_full =
      use * imbalance_percent > whole * 100 || could_run * 100 > whole * imbalance_percent;
  if (!is_full)
    return {Room::Kind::some, use};
  return {queue.size() > 1 ? Room::Kind::none : Room::Kind::little, load};
}

// For a thread that was on `last`, which is busy: the CPU where it was when this was asked before, if that is idle;
// else the first idle one of those behind `target` that are looked at.
std::uint32_t LinuxFair::idle_near(std::uint32_t target, std::uint32_t last, Entity& entity,
                                   std::int64_t now) {
  const std::uint32_t before = std::exchange(entity.last_before, last);
  const std::uint32_t first = cpus_.idle_from((target + 1) % cpus_.count());
  if (cpus_.wake_at_once() || first == no_cpu)
    return first;
  if (before != no_cpu && cpus_.idle(before))
    return before;
  const std::uint32_t behind = (first + cpus_.count() - target - 1) % cpus_.count();
  return behind < looked_at(now) ? first : no_cpu;
}

// Who slept in its queue.
void LinuxFair::wake_delayed(std::uint32_t thread, std::uint32_t cpu, std::int64_t now) {
  const std::uint32_t home = home_of(thread);
  Entity& entity = entities_[thread];
  // Its lag is taken as of the last tick: who has the CPU is charged only then.
  account(home, std::max(queues_[home].accounted, now / tick_ * tick_));
  if (cpu == home && !average_of(cpu).eligible(entity.virtual_time)) {
    entity.delayed = false;
    --queues_[cpu].delayed;
    queues_[cpu].delayed_weight -= entity.weight;
    waiting_ += entity.moves ? 1 : 0;
    return;
  }
  take_off(thread, home);
  if (cpu != home)
    account(cpu, now);
  weigh(thread, cpu, entity.weight, now);
  put_in(thread, cpu, entity.virtual_slice);
}

// Whether a CPU has done so since that was asked last, at that tick or before: found anything or not, and whether or not
// anybody waited then.
bool LinuxFair::evened_out_by(std::int64_t tick) const {
  return std::any_of(queues_.begin(), queues_.end(), [&](const Queue& queue) {
    const bool is_idle = queue.current == no_thread && queue.idle_since <= tick;
    if (is_idle && !looks_by_itself())
      return queue.last_balance > looked_at_as_of_;
    const std::int64_t interval = is_idle ? idle_interval(queue) : balance_interval(queue);
    return last_due(queue, interval, tick) > looked_at_as_of_;
  });
}

// How many CPUs are, by how much all were used when one last evened out: nothing may be found where all are busy.
std::uint32_t LinuxFair::looked_at(std::int64_t now) {
  const std::int64_t as_of = now / tick_ * tick_;
  if (as_of == looked_at_as_of_ || !evened_out_by(as_of))
    return looked_at_;
  looked_at_as_of_ = as_of;
  std::int64_t use = 0;
  for (const Queue& queue : queues_)
    use += std::min(queue.use.at(as_of) / LoadAverage::unit, full_use);
  const std::int64_t mean = use / cpus_.count();
  const std::int64_t busy =
      std::min(mean * mean * imbalance_percent * imbalance_percent / (10'000 * full_use), full_use);
  looked_at_ = static_cast<std::uint32_t>((full_use - busy) * cpus_.count() / full_use);
  return looked_at_;
}

}  // namespace longpole::simulation
