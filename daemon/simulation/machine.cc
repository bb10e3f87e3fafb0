#include "simulation/machine.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "trace/host_costs.h"

namespace longpole::simulation {
namespace {

constexpr std::array<std::string_view, scheduler_kind_count> scheduler_names = {
    "linux", "fifo", "linux-2.2", "solaris"};
constexpr std::int32_t heaviest_nice = -20;
constexpr std::int32_t lightest_nice = 19;

bool is_cost(Nanoseconds time) {
  return time >= Nanoseconds{} && time <= longest_cost;
}

Expected<void> wrong(std::string why, std::string remedy) {
  return bad_input("cannot simulate this machine", std::move(why), std::move(remedy));
}

Expected<void> check_thread(const ThreadSettings& settings, const std::string& name,
                            std::uint32_t cpus) {
  if (settings.cpu && *settings.cpu >= cpus)
    return wrong("thread " + name + " is bound to CPU " + std::to_string(*settings.cpu) + " of " +
                     std::to_string(cpus),
                 "CPUs count from 0");
  if (settings.nice < heaviest_nice || settings.nice > lightest_nice)
    return wrong("thread " + name + " has nice value " + std::to_string(settings.nice),
                 "choose one of -20 to 19");
  return {};
}

HandOff hand_off_of(SchedulerKind scheduler) {
  switch (scheduler) {
    case SchedulerKind::linux_fair:
      return HandOff::futex;
    case SchedulerKind::solaris:
      return HandOff::barging;
    case SchedulerKind::fifo:
    case SchedulerKind::linux_2_2:
      return HandOff::ordered;
  }
  return HandOff::ordered;
}

}  // namespace

std::string_view name_of(SchedulerKind scheduler) {
  return scheduler_names[static_cast<std::size_t>(scheduler)];
}

std::optional<SchedulerKind> scheduler_named(std::string_view name) {
  const auto* const found = std::find(scheduler_names.begin(), scheduler_names.end(), name);
  if (found == scheduler_names.end())
    return std::nullopt;
  return static_cast<SchedulerKind>(found - scheduler_names.begin());
}

Rules rules_of(const Machine& machine) {
  const HandOff hand_off = machine.hand_off.value_or(hand_off_of(machine.scheduler));
  return {hand_off, machine.parallel_devices, hand_off == HandOff::futex};
}

HostCosts recorded_costs(const Recording& recording) {
  HostCosts costs = recording.run.costs;
  if (recording.run.cpus != 1)
    costs.context_switch = costs.block = costs.release = costs.release_afar = costs.interruption =
        costs.lock_afar = costs.deep_release = {};
  return costs;
}

Nanoseconds deep_sleep_of(const Machine& machine, const HostCosts& recorded) {
  return machine.deep_sleep.value_or(machine.wake_up ? Nanoseconds{} : recorded.deep_sleep);
}

Nanoseconds tick_of(const Machine& machine, const Recording& recording) {
  const Nanoseconds recorded = recording.run.costs.tick;
  return machine.tick.value_or(recorded > Nanoseconds{} ? recorded : usual_tick);
}

double cpu_time_on(const RunInfo& run, std::uint32_t cpus) {
  double fewer = 1;  // CPUs
  double on_fewer = 1;
  for (const CpuTimeOn& one : run.cpu_time_on) {
    const double on_more = one.thousandths / 1000.0;
    if (one.cpus >= cpus) {
      const double way = std::log(cpus / fewer) / std::log(one.cpus / fewer);
      return on_fewer + way * (on_more - on_fewer);
    }
    fewer = one.cpus;
    on_fewer = on_more;
  }
  return on_fewer;
}

std::vector<std::uint32_t> speeds_on(const Machine& machine, const RunInfo& run) {
  std::vector<std::uint32_t> speeds = machine.speeds;
  const double cpu_time = cpu_time_on(run, machine.cpus);
  if (cpu_time == 1)
    return speeds;
  speeds.resize(machine.cpus, recorded_speed);
  for (std::uint32_t& speed : speeds)
    speed = static_cast<std::uint32_t>(
        std::clamp(std::round(speed / cpu_time), double{slowest_speed}, double{fastest_speed}));
  return speeds;
}

Expected<void> check(const Machine& machine, const Recording& recording) {
  if (machine.cpus < 1 || machine.cpus > most_cpus)
    return wrong(std::to_string(machine.cpus) + " CPUs",
                 "choose 1 to " + std::to_string(most_cpus));
  if (!machine.speeds.empty() && machine.speeds.size() != machine.cpus)
    return wrong(std::to_string(machine.speeds.size()) + " speeds for " +
                     std::to_string(machine.cpus) + " CPUs",
                 "name one for each CPU");
  if (std::any_of(machine.speeds.begin(), machine.speeds.end(), [](std::uint32_t speed) {
        return speed < slowest_speed || speed > fastest_speed;
      }))
    return wrong("a CPU's speed is out of range", "choose 0.001 to 1000");
  if (!machine.nodes.empty() && machine.nodes.size() != machine.cpus)
    return wrong(std::to_string(machine.nodes.size()) + " CPUs are in nodes, of " +
                     std::to_string(machine.cpus),
                 "name the node of each CPU");
  const bool costs_are_sane =
      is_cost(machine.latency) && is_cost(machine.node_latency) &&
      is_cost(machine.switch_cost.value_or(Nanoseconds{})) &&
      is_cost(machine.migration_cost.value_or(Nanoseconds{})) &&
      is_cost(machine.wake_up.value_or(Nanoseconds{})) &&
      is_cost(machine.interrupt.value_or(Nanoseconds{})) &&
      is_cost(machine.interruption.value_or(Nanoseconds{})) &&
      is_cost(machine.block_cost.value_or(Nanoseconds{})) &&
      is_cost(machine.release_cost.value_or(Nanoseconds{})) &&
      is_cost(machine.release_afar_cost.value_or(Nanoseconds{})) &&
      is_cost(machine.deep_sleep.value_or(Nanoseconds{})) &&
      is_cost(machine.deep_wake_up.value_or(Nanoseconds{})) &&
      is_cost(machine.deep_release_cost.value_or(Nanoseconds{})) &&
      is_cost(machine.lock_afar_cost.value_or(Nanoseconds{})) &&
      is_cost(machine.idle_look.value_or(Nanoseconds{})) &&
      is_cost(machine.packed_use.value_or(Nanoseconds{})) &&
      std::all_of(machine.primitive_cost.begin(), machine.primitive_cost.end(), is_cost);
  if (!costs_are_sane)
    return wrong("a cost or the latency is out of range", "choose 0 to 1 s");
  if (machine.lwps != 0 && machine.scheduler != SchedulerKind::solaris)
    return wrong("threads have no LWPs under " + std::string(name_of(machine.scheduler)),
                 "leave the number of LWPs out, or choose solaris");
  if (machine.slice != Nanoseconds{} &&
      (machine.slice < shortest_tick || machine.slice > longest_cost))
    return wrong("its slice is out of range", "choose 100 us to 1 s");
  if (machine.newly_idle_share > most_newly_idle_share)
    return wrong("its newly idle CPUs look more often than always", "choose 0 to 1024 of 1024");
  const Nanoseconds tick = tick_of(machine, recording);
  if (tick < shortest_tick || tick > longest_cost)
    return wrong("its tick is out of range", "choose 100 us to 1 s");
  if (machine.threads.size() > recording.threads.size())
    return wrong("it has settings for more threads than were recorded", "");
  for (std::size_t t = 0; t < machine.threads.size(); ++t) {
    if (auto checked = check_thread(machine.threads[t], recording.threads[t].name, machine.cpus);
        !checked)
      return checked;
  }
  return {};
}

}  // namespace longpole::simulation
