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

void LinuxFair::yielded(std::uint32_t cpu, std::int64_t now) {
  now += start_;
  account(cpu, now);
  Entity& entity = entities_[queues_[cpu].current];
  if (entity.real_time) {
    real_time_.renew(queues_[cpu].current);
  } else {
    if (average_of(cpu).eligible(entity.virtual_time)) {
      entity.virtual_time = entity.deadline;
      entity.deadline += entity.virtual_slice;
    }
    entity.protected_until = entity.virtual_time;
  }
  cpus_.reschedule(cpu);
}

std::unique_ptr<Scheduler> make_linux_fair(Cpus& cpus, const Machine& machine) {
  const std::int64_t slice =
      machine.slice > Nanoseconds{} ? machine.slice.count() : base_slice(cpus.count());
  return std::make_unique<LinuxFair>(cpus, machine, slice);
}

}  // namespace longpole::simulation
