#include "simulation/linux_fair.h"

#include <bit>

#include "simulation/linux_fair_scheduler.h"

namespace longpole::simulation {
namespace {

constexpr std::int64_t slice_of_one_cpu = 700'000;
constexpr std::uint32_t most_cpus_for_slice = 8;

std::int64_t base_slice(std::uint32_t cpus) {
  const std::uint32_t counted = std::min(cpus, most_cpus_for_slice);
  return slice_of_one_cpu * std::bit_width(counted);
}

}  // namespace

LinuxFair::LinuxFair(Cpus& cpus, const Machine& machine, std::int64_t slice)
    : cpus_(cpus),
      tick_(cpus.tick()),
      slice_(slice),
      chance_(machine.chance),
      start_(tick_ * (machine.chance * 5 % 8) / 8),
      entities_(cpus.rules().size()),
      queues_(cpus.count()),
      real_time_(cpus),
      looked_at_(cpus.count()) {
  for (std::size_t t = 0; t < entities_.size(); ++t) {
    Entity& entity = entities_[t];
    const Cpus::ThreadRules& rules = cpus.rules()[t];
    entity.weight = weight_of_nice(rules.nice);
    entity.virtual_slice = virtual_of(slice_, entity.weight);
    entity.real_time = real_time_.has(static_cast<std::uint32_t>(t));
    entity.moves = rules.only_cpu == no_cpu;
  }
  for (std::uint32_t cpu = 0; cpu < cpus.count(); ++cpu)
    queues_[cpu].newly_idle.start(cpu, machine.newly_idle_share, machine.chance);
}

void LinuxFair::stopped(std::uint32_t thread, std::uint32_t cpu, OffCpu why, std::int64_t now) {
  now += start_;
  // Its call is not time of who comes next.
  account(cpu, now + cpus_.call_lasts());
  loses_cpu(thread, now);
  gets_cpu(no_thread, cpu, now);
  Queue& queue = queues_[cpu];
  Entity& entity = entities_[thread];
  if (!entity.real_time) {
    entity.goes_to_sleep();
    const AverageTime average = average_of(cpu);
    entity.lag = limited(entity, average.time() - entity.virtual_time);
    const bool owes = !average.eligible(entity.virtual_time);
    queue.floor = entity.virtual_time;
    if (owes && why != OffCpu::ended) {
      queue.fair.insert(entry_of(thread));
      sleep_in_queue(thread, cpu);
    } else {
      weigh(thread, cpu, 0, now);
      if (why == OffCpu::ended) {
        queue.load.add(-entity.load.last(), now);
        queue.use.add(-entity.use.last(), now);
      }
    }
  }
  queue.current = no_thread;
  real_time_.set_current(cpu, no_thread);
}

std::unique_ptr<Scheduler> make_linux_fair(Cpus& cpus, const Machine& machine) {
  const std::int64_t slice =
      machine.slice > Nanoseconds{} ? machine.slice.count() : base_slice(cpus.count());
  return std::make_unique<LinuxFair>(cpus, machine, slice);
}

}  // namespace longpole::simulation
