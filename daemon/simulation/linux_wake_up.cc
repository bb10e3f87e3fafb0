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
  Entity& entity = entities_[thread];
  entity.waker = waker;
  if (entity.real_time)
    return real_time_.place(thread);
  const std::uint32_t only = cpus_.rules(thread).only_cpu;
  if (only != no_cpu)
    return only;
  const std::uint32_t last = home_of(thread);
  if (was == OffCpu::created || last == no_cpu) {
    const std::uint32_t idle = cpus_.idle_from(waker == no_cpu ? 0 : waker);
    return idle != no_cpu ? idle : lightest();
  }
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

std::uint32_t LinuxFair::lightest() const {
  std::uint32_t lightest = 0;
  for (std::uint32_t cpu = 1; cpu < cpus_.count(); ++cpu) {
    if (load(cpu) < load(lightest))
      lightest = cpu;
  }
  return lightest;
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

// How many CPUs are, by how much all were used up to the last tick: nothing may be found where all are busy.
std::uint32_t LinuxFair::looked_at(std::int64_t now) {
  const std::int64_t as_of = now / tick_ * tick_;
  if (as_of == looked_at_as_of_)
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
