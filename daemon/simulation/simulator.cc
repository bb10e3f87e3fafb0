#include "simulation/simulator.h"

#include <algorithm>
#include <string>

#include "simulation/event_machine_cpus.h"
#include "simulation/machine_costs.h"

namespace longpole::simulation {
namespace {

__extension__ using Wide = __int128;

// More than the longest recording there may be, slowed down a hundred times.
constexpr Wide latest_end = Wide{1} << 62U;

// No simulated moment is later than this.
Wide bound_on_end(const Recording& recording, const Survey& survey, const Machine& machine) {
  Nanoseconds cost{};
  for (const Nanoseconds one : machine.primitive_cost)
    cost = std::max(cost, one);
  const std::uint32_t speed = machine.speeds.empty()
                                  ? recorded_speed
                                  : *std::min_element(machine.speeds.begin(), machine.speeds.end());
  constexpr int dearest = 7;  // Solaris: a bound thread is 6.7 times as dear to create
  const Wide events = static_cast<Wide>(recording.event_count());
  const Wide switches = 3 * events + machine.most_preemptions;
  const Wide slowed = (Wide{survey.work.count()} + events * (dearest * cost.count() + 1)) *
                      std::max(recorded_speed, speed) / std::min(speed, recorded_speed);
  const MachineCosts costs(machine, recording);
  const std::int64_t of_switch = costs.to_switch + costs.to_migrate + costs.deep_wake_up +
                                 costs.block_before + costs.block_behind + costs.deep_release +
                                 costs.interruption + costs.lock_afar;
  return slowed + switches * (of_switch + 1) + 3 * events * machine.longest_latency().count();
}

class Keeper final : public StretchConsumer {
 public:
  explicit Keeper(LargeArray<Stretch>& stretches) : stretches_(stretches) {}
  void add(const Stretch& stretch) override { stretches_.push_back(stretch); }

 private:
  LargeArray<Stretch>& stretches_;
};

}  // namespace

Expected<SimulatedEnd> simulate(const Recording& recording, const Machine& machine,
                                StretchConsumer& consumer, const WaitFors* pairs) {
  return simulate(recording, Survey(recording, pairs), machine, consumer);
}

Expected<SimulatedEnd> simulate(const Recording& recording, const Survey& survey,
                                const Machine& machine, StretchConsumer& consumer) {
  if (auto checked = check(machine, recording); !checked)
    return tl::unexpected(checked.error());
  const Wide bound = bound_on_end(recording, survey, machine);
  if (bound > latest_end)
    return over_limit("cannot simulate the recording on this machine",
                      "it could take longer than 146 years", "choose smaller costs");
  // Nothing bounds the time that is spun away.
  if (!survey.spins &&
      bound < Wide{1} << (63 - Tournament<std::uint64_t>::bits(recording.threads.size())))
    return EventMachine<std::uint64_t>(recording, survey, machine, consumer).run();
  return EventMachine<WideKey>(recording, survey, machine, consumer).run();
}

Expected<SimulatedRun> simulate(const Recording& recording, const Machine& machine,
                                const WaitFors* pairs) {
  SimulatedRun run;
  // Cuts and second tries at locks add a few; what is not used costs no memory.
  run.stretches.reserve(recording.event_count() + recording.event_count() / 8);
  Keeper keeper(run.stretches);
  auto end = simulate(recording, machine, keeper, pairs);
  if (!end)
    return tl::unexpected(end.error());
  run.end = *std::move(end);
  return run;
}

}  // namespace longpole::simulation
