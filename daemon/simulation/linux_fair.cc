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

std::unique_ptr<Scheduler> make_linux_fair(Cpus& cpus, const Machine& machine) {
  const std::int64_t slice =
      machine.slice > Nanoseconds{} ? machine.slice.count() : base_slice(cpus.count());
  return std::make_unique<LinuxFair>(cpus, machine, slice);
}

}  // namespace longpole::simulation
