// What a simulated machine charges for switches, moves and waits, and what of the recorded CPU times it charges anew
// and therefore takes out of them first.
//
// In the recorded run, on one CPU:            Simulated, on a CPU that has a thread to go on with:
//
//   call ├ blocking ┤ … ├ switch, blocking ┤ work ├     call ├ half of blocking ┤ switch ┤ the other's work …
//        the next event's CPU time, but for `…`         … let go: ├ switch ┤ half of blocking ┤ work ├
//
// A waker's CPU is busy with the release as long, and goes on then. Times in nanoseconds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simulation/machine.h"
#include "trace/event_forms.h"

namespace longpole::simulation {

struct MachineCosts {
  MachineCosts(const Machine& machine, const Recording& recording)
      : MachineCosts(machine, recorded_costs(recording)) {}

  // The CPU time up to the event, without what the recorded run took for the switch to its thread, and for the call
  // before if that blocked: with what its waker took, since in which of the waker's calls that was is not known.
  [[nodiscard]] std::int64_t own_work(const Event* events, std::uint32_t index) const {
    const std::int64_t work = events[index].cpu.count();
    if (recorded_switch + recorded_block == 0 || index == 0)
      return work;
    const Event& before = events[index - 1];
    const std::int64_t off_cpu = (events[index].time - before.time).count() - work;
    // One that was off the CPU for longer than a switch takes was switched to.
    if (off_cpu <= recorded_switch)
      return work;
    const std::int64_t blocking = waited_for_a_thread(before) ? recorded_block : 0;
    return std::max<std::int64_t>(0, work - recorded_switch - blocking);
  }

  std::int64_t to_switch;
  std::int64_t to_migrate;
  std::int64_t wake_up;
  std::int64_t block_before;  // the thread leaves its CPU
  std::int64_t block_behind;  // it is back
  std::int64_t release;
  std::int64_t release_afar;
  // Until a CPU without a thread sleeps: about what leaving one for another takes. Before, it notices a thread that is
  // woken for it without an interrupt.
  std::int64_t fall_asleep;
  std::int64_t recorded_switch;
  std::int64_t recorded_block;  // with the release

 private:
  MachineCosts(const Machine& machine, const HostCosts& recorded)
      : to_switch(machine.switch_cost.value_or(recorded.context_switch).count()),
        to_migrate(machine.migration_cost.value_or(recorded.migration).count()),
        wake_up(machine.wake_up.value_or(recorded.wake_up).count()),
        block_before(machine.block_cost.value_or(recorded.block).count() / 2),
        block_behind(machine.block_cost.value_or(recorded.block).count() - block_before),
        release(machine.release_cost.value_or(recorded.release).count()),
        release_afar(
            std::max(release, machine.release_afar_cost.value_or(recorded.release_afar).count())),
        fall_asleep(to_switch + block_before + block_behind),
        recorded_switch(recorded.context_switch.count()),
        recorded_block((recorded.block + recorded.release).count()) {}
};

}  // namespace longpole::simulation
