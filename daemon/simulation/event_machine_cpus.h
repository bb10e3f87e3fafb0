// The part of event_machine.h that has the CPUs: who is on which, from when on, and what comes of that, stretches.
#pragma once

#include "simulation/event_machine.h"

namespace longpole::simulation {

template <typename Key>
void EventMachine<Key>::let_choose(std::uint32_t busy) {
  std::vector<std::uint32_t>& asked = cpus_.asked_;
  bool again = false;
  // By index: who loses its CPU may ask for another. NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::uint32_t cpu = asked[i];
    if (cpu == busy) {
      again = true;
      continue;
    }
    cpus_.is_asked_[cpu] = false;
    choose(cpu);
  }
  asked.clear();
  if (again)
    asked.push_back(busy);
}

template <typename Key>
void EventMachine<Key>::choose(std::uint32_t cpu) {
  std::int64_t& busy_until = on_cpu_[cpu].busy_until;
  busy_until = std::max(busy_until, on_cpu_[cpu].interrupts.holds_queue_until());
  const std::uint32_t current = cpus_.current_[cpu];
  const std::uint32_t thread = scheduler_->choose(cpu, now_);
  if (thread != current) {
    if (current != no_thread)
      cut(current);
    cpus_.current_[cpu] = thread;
    if (thread != no_thread)
      take_up(thread, cpu);
  }
  if (thread == no_thread)
    cpus_.idle_[cpu / 64] |= std::uint64_t{1} << cpu % 64;
}

template <typename Key>
void EventMachine<Key>::take_up(std::uint32_t thread, std::uint32_t cpu) {
  ThreadState& state = threads_[thread];
  CpuState& place = on_cpu_[cpu];
  state.doing = Doing::running;
  state.cpu = cpu;
  state.wakes_cpu = state.wakes_cpu && state.ready == now_;
  if (state.wakes_cpu)
    place.awake = now_ + (is_deeply_asleep(cpu) ? costs_.deep_wake_up : costs_.wake_up);
  state.start = std::max(now_, place.awake);
  // It did not wait for a CPU that was idle all the time, but until the scheduler moved it there.
  const bool was_given = state.start > state.ready && place.last_end > state.ready;
  state.given_by = was_given ? place.last_stretch : no_stretch;
  state.takes_up = std::max(state.start, place.busy_until);
  if (place.last_thread != thread && place.last_thread != no_thread)
    state.takes_up += costs_.to_switch;
  const std::uint32_t last_cpu = std::exchange(cpus_.last_cpu_[thread], cpu);
  if (last_cpu != cpu && last_cpu != no_cpu) {
    state.takes_up += costs_.to_migrate;
    ++end_.migrations;
  }
  place.last_thread = thread;
  set_end(thread);
}

template <typename Key>
void EventMachine<Key>::cut(std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  const std::uint32_t cpu = state.cpu;
  ++end_.preemptions;
  next_.drop(thread);
  state.doing = Doing::queued;
  if (state.spins) [[unlikely]] {
    synchronization_.stop_spinning(thread, state.events[state.event]);
    state.retries = true;
    --spinning_;
  }
  if (state.start >= now_) {
    state.ready = std::min(state.ready, now_);
    state.wakes_cpu = false;
    state.spins = false;
    return;
  }
  const std::int64_t worked = now_ - state.takes_up - on_cpu_[cpu].interrupts.taken_by(now_);
  const Wide gone = std::max<std::int64_t>(0, worked);
  state.left -=
      std::min(state.left, static_cast<std::int64_t>(gone * on_cpu_[cpu].speed / recorded_speed));
  state.released_by = emit(thread, cpu, true);
  state.ready = now_;
  state.spins = false;
}

template <typename Key>
StretchIndex EventMachine<Key>::emit(std::uint32_t thread, std::uint32_t cpu, bool cut) {
  ThreadState& state = threads_[thread];
  Stretch stretch;
  // Until its CPU had woken up it was not ready either.
  stretch.ready = Nanoseconds{std::exchange(state.wakes_cpu, false) ? state.start : state.ready};
  stretch.start = Nanoseconds{state.start};
  stretch.end = Nanoseconds{now_};
  stretch.released_by = state.released_by;
  stretch.given_by = cpu == no_cpu ? no_stretch : state.given_by;
  stretch.event = state.event & 0x7fffffffU;
  stretch.spins = state.spins ? 1 : 0;
  stretch.thread = thread & 0xfffffU;
  stretch.cpu = cpu & 0x7ffU;
  stretch.cut = cut ? 1 : 0;
  if (state.spins) [[unlikely]]
    end_.spinning += stretch.end - stretch.start;
  consumer_.add(stretch);
  const auto index = static_cast<StretchIndex>(end_.stretches++);
  if (cpu != no_cpu) {
    on_cpu_[cpu].last_stretch = index;
    on_cpu_[cpu].last_end = now_;
    on_cpu_[cpu].interrupts.over(now_);
  }
  end_.total = Nanoseconds{now_};
  return index;
}

}  // namespace longpole::simulation
