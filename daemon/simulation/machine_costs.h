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
#include "simulation/recorded_releases.h"
#include "trace/event_forms.h"

namespace longpole::simulation {

struct MachineCosts {
  MachineCosts(const Machine& machine, const Recording& recording)
      : MachineCosts(machine, recorded_costs(recording)) {}

  std::int64_t to_switch;
  std::int64_t to_migrate;
  std::int64_t wake_up;
  std::int64_t block_before;  // the thread leaves its CPU
  std::int64_t block_behind;  // it is back
  std::int64_t release;
  std::int64_t release_afar;
  std::int64_t interruption;
  std::int64_t lock_afar;
  // Until a CPU without a thread sleeps: about what leaving one for another takes. Before, it notices a thread that is
  // woken for it without an interrupt.
  std::int64_t fall_asleep;
  // Until it sleeps so deeply that it is dearer to wake, and what that takes then.
  std::int64_t sleep_deeply;
  std::int64_t deep_wake_up;
  std::int64_t deep_release;

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
        interruption(machine.interruption.value_or(recorded.interruption).count()),
        lock_afar(machine.lock_afar_cost.value_or(recorded.lock_afar).count()),
        fall_asleep(to_switch + block_before + block_behind),
        sleep_deeply(deep_sleep_of(machine, recorded).count()),
        deep_wake_up(wake_up),
        deep_release(release_afar) {
    if (sleep_deeply == 0)
      return;
    deep_wake_up = std::max(wake_up, machine.deep_wake_up.value_or(recorded.deep_wake_up).count());
    deep_release =
        std::max(release_afar, machine.deep_release_cost.value_or(recorded.deep_release).count());
  }
};

class OwnWork {
  static constexpr bool is_of_mutex(EventKind kind) {
    return kind == EventKind::mutex_lock || kind == EventKind::mutex_unlock;
  }

 public:
  // `releases`: the recording's; must outlive it.
  OwnWork(const Recording& recording, const RecordedReleases& releases)
      : OwnWork(recorded_costs(recording), recording.is_in_lockstep(), releases) {}

  // The CPU time up to the event, without what the recorded run took for the switch to its thread, and for the call
  // before if that blocked or let others go on. Where it is not known which of its waker's calls let a thread go on, that
  // is taken out of its own time.
  // `owed`: what the thread's events so far had no CPU time for, 0 at first, is taken out of the next ones, as CPU times of
  // single events are known roughly: see the recorder's clocks. Events of a thread in order.
  [[nodiscard]] std::int64_t before(std::uint32_t thread, const Event* events, std::uint32_t index,
                                    std::int64_t& owed) const {
    const std::int64_t work = events[index].cpu.count();
    if (!has_costs_ || index == 0)
      return work;
    const Event& call = events[index - 1];
    const std::int64_t off_cpu = (events[index].time - call.time).count() - work;
    // In lockstep the records have what turns took already, and who waits for a mutex waits for its turn, where no wait for a
    // condition gives that up.
    const bool was_turn = in_lockstep_ && is_of_mutex(call.kind);
    std::int64_t other = was_turn ? 0 : release_ * releases_.made_by(thread, index - 1);
    // One that was off the CPU for longer than a switch takes was switched to.
    const bool waited = waited_for_a_thread(call) && !was_turn;
    if (off_cpu > switch_ && (waited || !in_lockstep_)) {
      other += switch_;
      if (waited)
        other += block_ + (releases_.ended(thread, index - 1) ? 0 : release_);
    }
    owed = std::min(owed + other, most_owed_);
    const std::int64_t taken_out = std::min(work, owed);
    owed -= taken_out;
    return work - taken_out;
  }

 private:
  OwnWork(const HostCosts& recorded, bool in_lockstep, const RecordedReleases& releases)
      : switch_(recorded.context_switch.count()),
        block_(recorded.block.count()),
        release_(recorded.release.count()),
        has_costs_(switch_ + block_ + release_ != 0),
        in_lockstep_(in_lockstep),
        most_owed_(100 * (switch_ + block_ + release_)),
        releases_(releases) {}

  std::int64_t switch_;
  std::int64_t block_;
  std::int64_t release_;
  bool has_costs_;
  bool in_lockstep_;
  std::int64_t most_owed_;
  const RecordedReleases& releases_;
};

}  // namespace longpole::simulation
