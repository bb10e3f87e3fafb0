#include "allocation/bound_parameters.h"

#include <algorithm>
#include <vector>

#include "simulation/machine_costs.h"
#include "simulation/simulate.h"

namespace longpole::allocation {
namespace {

std::uint64_t signals_of(const Recording& recording) {
  std::uint64_t signals = 0;
  std::vector<std::uint64_t> arrivals(recording.objects.size(), 0);
  std::vector<std::uint32_t> parties(recording.objects.size(), 0);
  for (const Thread& thread : recording.threads) {
    for (const Event& event : thread.events) {
      if (event.outcome != Outcome::ok)
        continue;
      switch (event.kind) {
        case EventKind::thread_create:
        case EventKind::thread_join:
        case EventKind::mutex_unlock:
        case EventKind::rwlock_unlock:
        case EventKind::semaphore_post:
        case EventKind::condition_signal:
        case EventKind::send:
          ++signals;
          break;
        case EventKind::condition_broadcast:
          if (event.other != unknown_count)
            signals += event.other;
          break;
        case EventKind::barrier_wait:
          if (event.other != unknown_count) {
            ++arrivals[event.subject];
            parties[event.subject] = event.other;
          }
          break;
        default:
          break;
      }
    }
  }
  // The last of each round lets the others go.
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (parties[i] > 0)
      signals += arrivals[i] / parties[i] * (parties[i] - 1);
  }
  return signals;
}

}  // namespace

Expected<ProgramParameters> bound_parameters(const Recording& recording,
                                             const simulation::Schedule& ideal) {
  ProgramParameters program;
  program.ideal = ideal.total;
  std::vector<std::int64_t> times(recording.threads.size() + 1, 0);
  const std::vector<simulation::ConcurrencyStep> steps = simulation::concurrency(ideal);
  for (std::size_t i = 0; i + 1 < steps.size(); ++i)
    times[steps[i].running] += (steps[i + 1].time - steps[i].time).count();
  for (std::size_t running = 1; running < times.size(); ++running) {
    program.work += Nanoseconds{times[running]} * static_cast<std::int64_t>(running);
    program.parameters.profile.push_back(
        ideal.total.count() > 0 ? Rational(Integer(times[running]), Integer(ideal.total.count()))
                                : Rational(0));
  }
  if (program.work.count() == 0)
    return bad_input("cannot bound the completion time", "no thread of the recording computes");
  program.signals = signals_of(recording);
  program.parameters.granularity =
      Rational(Integer(program.signals), Integer(program.work.count()));
  return program;
}

Nanoseconds latency_to_bound(const Recording& recording, const simulation::Machine& machine) {
  const simulation::MachineCosts costs(machine, recording);
  return machine.longest_latency() +
         Nanoseconds{costs.deep_wake_up + costs.block_before + costs.block_behind +
                     costs.deep_release + costs.interruption + costs.lock_afar};
}

std::optional<Rational> surely_reached(const Recording& recording,
                                       const simulation::Schedule& ideal,
                                       const simulation::Machine& machine) {
  const bool calls_cost = std::any_of(machine.primitive_cost.begin(), machine.primitive_cost.end(),
                                      [](Nanoseconds cost) { return cost > Nanoseconds{}; });
  if (!machine.speeds.empty() || machine.switch_cost.value_or(Nanoseconds{}) > Nanoseconds{} ||
      calls_cost || ideal.deadlock)
    return std::nullopt;
  const auto program = bound_parameters(recording, ideal);
  if (!program)
    return std::nullopt;
  const auto finder = BoundFinder::of(program->parameters);
  if (!finder)
    return std::nullopt;
  return Rational(finder->find(machine.cpus, latency_to_bound(recording, machine)).ratio *
                  program->ideal.count());
}

}  // namespace longpole::allocation
