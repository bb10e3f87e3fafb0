#include "allocation/disturbances.h"

#include <algorithm>

#include "allocation/local_search.h"

namespace longpole::allocation {
namespace {

// In thousandths, as speeds are.
constexpr std::uint32_t whole = 1000;
constexpr std::uint64_t most_slowdown = 10;

Nanoseconds up_to_twice(Nanoseconds cost, Random& random) {
  return std::min(cost * static_cast<std::int64_t>(below(random, 2 * whole + 1)) / whole,
                  simulation::longest_cost);
}

}  // namespace

Nanoseconds Disturbance::without_slowdown(Nanoseconds total) const {
  return total / whole * speed_left + total % whole * speed_left / whole;
}

std::vector<Disturbance> disturbances(const simulation::Machine& machine,
                                      const HostCosts& recorded) {
  std::vector<Disturbance> all(disturbance_count, {machine, whole});
  Random random(1);
  for (Disturbance& one : all) {
    one.machine.speeds.resize(machine.cpus, simulation::recorded_speed);
    for (std::uint32_t& speed : one.machine.speeds) {
      const auto left = static_cast<std::uint32_t>(whole - below(random, most_slowdown + 1));
      speed = std::max(speed * left / whole, simulation::slowest_speed);
      one.speed_left = std::min(one.speed_left, left);
    }
    simulation::Machine& costs = one.machine;
    costs.switch_cost = up_to_twice(costs.switch_cost.value_or(recorded.context_switch), random);
    costs.migration_cost = up_to_twice(costs.migration_cost.value_or(recorded.migration), random);
    costs.wake_up = up_to_twice(costs.wake_up.value_or(recorded.wake_up), random);
    for (Nanoseconds& cost : costs.primitive_cost)
      cost = up_to_twice(cost, random);
  }
  // Drawn last, so that the others are what they were before these were known.
  for (Disturbance& one : all) {
    simulation::Machine& costs = one.machine;
    costs.interrupt = up_to_twice(costs.interrupt.value_or(recorded.interrupt), random);
    costs.block_cost = up_to_twice(costs.block_cost.value_or(recorded.block), random);
    costs.release_cost = up_to_twice(costs.release_cost.value_or(recorded.release), random);
    costs.release_afar_cost =
        up_to_twice(costs.release_afar_cost.value_or(recorded.release_afar), random);
    costs.lock_afar_cost = up_to_twice(costs.lock_afar_cost.value_or(recorded.lock_afar), random);
  }
  // And behind those, what became known later.
  for (Disturbance& one : all) {
    simulation::Machine& costs = one.machine;
    costs.interruption = up_to_twice(costs.interruption.value_or(recorded.interruption), random);
  }
  for (Disturbance& one : all) {
    simulation::Machine& costs = one.machine;
    costs.deep_sleep = simulation::deep_sleep_of(machine, recorded);
    costs.deep_wake_up = up_to_twice(costs.deep_wake_up.value_or(recorded.deep_wake_up), random);
    costs.deep_release_cost =
        up_to_twice(costs.deep_release_cost.value_or(recorded.deep_release), random);
  }
  return all;
}

}  // namespace longpole::allocation
