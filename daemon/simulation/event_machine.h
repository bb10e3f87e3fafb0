// The machine of simulator.h at work: takes what ends next, a thread's stretch or wait or a CPU's timer,
// asks Synchronization what that does to the threads and the Scheduler who runs then, and hands out the
// stretches as they end.
//
//   time ──▶  next_: when each thread's stretch ends ──▶ step() ──▶ Synchronization: who is let go
//             cpus_.timers_: ticks and slices        ──▶ timer()       │
//                                                    choose() ◀── Scheduler: who has which CPU
//
// Those of CPUs stand in event_machine_cpus.h. Key as in tournament.h. One run each; what it is made from must outlive it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulation/lock_places.h"
#include "simulation/machine_costs.h"
#include "simulation/machine_state.h"
#include "simulation/scheduler.h"
#include "simulation/signals_in_flight.h"
#include "simulation/simulator.h"
#include "simulation/synchronization.h"
#include "simulation/tournament.h"

namespace longpole::simulation {

template <typename Key>
class EventMachine {
 public:
  EventMachine(const Recording& recording, const Survey& survey, const Machine& machine,
               StretchConsumer& consumer)
      : machine_(machine),
        consumer_(consumer),
        synchronization_(recording, survey, rules_of(machine)),
        costs_(machine, recording),
        own_work_(recording, survey.releases),
        cpus_(machine, recording),
        scheduler_(make_scheduler(machine, cpus_)),
        next_(recording.threads.size()),
        threads_(recording.threads.size()),
        on_cpu_(machine.cpus, CpuState{.interrupts = Interrupts(costs_, cpus_.interrupt())}),
        lock_places_(costs_.lock_afar, recording.objects.size()) {
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      threads_[t].events = recording.threads[t].events.data();
      threads_[t].event_count = static_cast<std::uint32_t>(recording.threads[t].events.size());
    }
    const std::vector<std::uint32_t> speeds = speeds_on(machine, recording.run);
    for (std::size_t cpu = 0; cpu < speeds.size(); ++cpu)
      on_cpu_[cpu].speed = speeds[cpu];
    if (machine.longest_latency() > Nanoseconds{})
      in_flight_.emplace(recording, survey, rules_of(machine));
    for (const Nanoseconds cost : machine.primitive_cost)
      has_costs_ |= cost > Nanoseconds{};
    for (std::uint32_t t = 0; t < threads_.size(); ++t) {
      if (!survey.created[t])
        let_go({t, Next::runs}, no_stretch, no_cpu);
    }
  }

  Expected<SimulatedEnd> run() {
    while (!exited_ && (next_.somebody_comes() || spinners_may_give_way())) {
      if (cpus_.timers_.somebody_comes() &&
          (!next_.somebody_comes() || cpus_.timers_.time() < next_.time())) {
        now_ = cpus_.timers_.time();
        const std::uint32_t cpu = cpus_.timers_.thread();
        cpus_.timers_.drop(cpu);
        scheduler_->timer(cpu, now_);
        let_choose(no_cpu);
      } else {
        now_ = next_.time();
        step(next_.thread());
      }
      if (end_.preemptions > machine_.most_preemptions) [[unlikely]]
        return over_limit(
            "cannot simulate the recording on this machine",
            "its threads lose their CPU more than " + std::to_string(machine_.most_preemptions) +
                " times, which is the most that is simulated",
            "choose lower costs, or the shared scheduler, which knows no time slices");
    }
    if (!exited_)
      find_deadlock();
    end_.packed = cpus_.packed_;
    return std::move(end_);
  }

 private:
  __extension__ using Wide = __int128;

  // The thread's stretch or wait ends, or its signal arrives.
  void step(std::uint32_t thread) {
    ThreadState& state = threads_[thread];
    if (state.doing == Doing::signalled) {
      next_.drop(thread);
      state.ready = now_;
      queue(thread, state.cpu);
      let_choose(no_cpu);
      return;
    }
    const Event& event = state.events[state.event];
    const bool ran = state.doing == Doing::running;
    const std::uint32_t cpu = ran ? state.cpu : no_cpu;
    if (event.kind == EventKind::thread_end && synchronization_.exits(thread)) [[unlikely]] {
      exit(thread);
      return;
    }
    const StretchIndex node = emit(thread, cpu, false);
    const bool again = state.retries;
    Next next = outcome(thread, event, ran);
    std::optional<SignalsInFlight::Signal> awaited;
    if (in_flight_ && again)
      awaited = in_flight_->retry(event, next);
    else if (in_flight_ && ran)
      awaited = in_flight_->call(thread, event, {now_, cpu, node}, next,
                                 synchronization_.released().size(), synchronization_.woken());
    next = onward(thread, next);
    // By index: a thread that is let go and has nothing to do lets others go.
    // NOLINTNEXTLINE(modernize-loop-convert)
    for (std::size_t i = 0; i < synchronization_.released().size(); ++i) {
      const Release release = synchronization_.released()[i];
      if (release.thread == thread)
        next = onward(thread, release.next);
      else
        let_go(release, node, cpu);
    }
    if (!ran) {
      go_on_off_cpu(thread, next, node);
    } else if (next == Next::blocks && event.spins() && scheduler_->may_spin(thread) &&
               synchronization_.spin(thread, event)) {
      spin(thread, node);
    } else if (next != Next::runs) {
      leave_cpu(thread, next, node);
    } else if (awaited && is_under_way(*awaited, cpu)) {
      wait_for_signal(thread, *awaited);
    } else {
      if (!again) {
        const std::int64_t fetching = lock_places_.use(event, cpu);
        threads_[thread].left += fetching;
        end_.fetching += Nanoseconds{fetching};
      }
      continue_on(thread, node);
      if (!synchronization_.released().empty())
        scheduler_->leaves_kernel(cpu, std::max(now_, on_cpu_[cpu].busy_until), now_);
      if (event.kind == EventKind::yield)
        scheduler_->yielded(cpu, now_);
    }
    let_choose(no_cpu);
  }

  // All threads end; what they were doing is cut short.
  void exit(std::uint32_t thread) {
    for (std::uint32_t t = 0; t < threads_.size(); ++t) {
      const ThreadState& state = threads_[t];
      const bool runs = state.doing == Doing::running;
      if (t != thread && (runs || state.doing == Doing::waiting) && state.start < now_)
        emit(t, runs ? state.cpu : no_cpu, true);
    }
    emit(thread, threads_[thread].cpu, false);
    exited_ = true;
  }

  Next outcome(std::uint32_t thread, const Event& event, bool ran) {
    if (std::exchange(threads_[thread].retries, false)) [[unlikely]]
      return synchronization_.retry(thread, event);
    return ran ? synchronization_.call(thread, event) : synchronization_.wait_over(thread, event);
  }

  // To the next event of a thread that goes on; `ends` where it has none.
  [[nodiscard]] Next onward(std::uint32_t thread, Next next) {
    if (next == Next::retries) {
      threads_[thread].retries = true;
      threads_[thread].left = 0;
      return Next::runs;
    }
    if (next == Next::jumps)
      threads_[thread].event = synchronization_.jumped_to(thread);
    else if (next != Next::runs)
      return next;
    return advance(thread) ? Next::runs : Next::ends;
  }

  [[nodiscard]] bool is_under_way(const SignalsInFlight::Signal& signal, std::uint32_t cpu) const {
    return signal.cpu != no_cpu && arrival(signal, cpu) > now_;
  }

  [[nodiscard]] std::int64_t arrival(const SignalsInFlight::Signal& signal,
                                     std::uint32_t cpu) const {
    return signal.time + machine_.latency_between(signal.cpu, cpu).count();
  }

  // Its call was answered, but the answer has not come to its CPU.
  void wait_for_signal(std::uint32_t thread, const SignalsInFlight::Signal& signal) {
    ThreadState& state = threads_[thread];
    const std::uint32_t cpu = state.cpu;
    leave_cpu(thread, Next::blocks, signal.stretch);
    state.doing = Doing::signalled;
    state.cpu = cpu;
    next_.set(thread, arrival(signal, cpu));
  }

  // True when the thread has a further event to go to.
  bool advance(std::uint32_t thread) {
    ThreadState& state = threads_[thread];
    if (++state.event == state.event_count) {
      synchronization_.out_of_events(thread);
      return false;
    }
    state.left = own_work_.before(thread, state.events, state.event, state.owed);
    if (has_costs_) {
      const Event& event = state.events[state.event];
      state.left += machine_.primitive_cost[static_cast<std::size_t>(event.kind)].count() *
                    scheduler_->cost_in_tenths(thread, event) / 10;
    }
    return true;
  }

  void spin(std::uint32_t thread, StretchIndex node) {
    ThreadState& state = threads_[thread];
    state.spins = true;
    ++spinning_;
    state.left = 0;
    state.ready = state.start = state.takes_up = now_;
    state.released_by = node;
    state.given_by = no_stretch;
    next_.drop(thread);
  }

  // It has what it spun for.
  void end_spinning(const Release& release, StretchIndex node, std::uint32_t waker) {
    ThreadState& state = threads_[release.thread];
    const std::uint32_t cpu = state.cpu;
    if (state.start < now_)
      emit(release.thread, cpu, false);
    state.spins = false;
    --spinning_;
    const Next next = onward(release.thread, release.next);
    if (next != Next::runs) {
      leave_cpu(release.thread, next, node);
      return;
    }
    continue_on(release.thread, node);
    const std::int64_t latency = machine_.latency_between(waker, cpu).count();
    if (latency == 0)
      return;
    state.ready = state.start = state.takes_up = now_ + latency;
    set_end(release.thread);
  }

  // Somebody waits for the CPU of one that spins, and could go on with it.
  [[nodiscard]] bool spinners_may_give_way() const {
    if (spinning_ == 0 || !cpus_.timers_.somebody_comes())
      return false;
    return std::any_of(threads_.begin(), threads_.end(), [&](const ThreadState& state) {
      if (state.doing != Doing::queued)
        return false;
      const Event& event = state.events[state.event];
      return !state.retries || !event.spins() || synchronization_.is_free(event.object());
    });
  }

  // It computes on, on the CPU that it has.
  void continue_on(std::uint32_t thread, StretchIndex node) {
    ThreadState& state = threads_[thread];
    state.ready = state.start = now_;
    state.takes_up = std::max(now_, on_cpu_[state.cpu].busy_until);
    state.released_by = node;
    state.given_by = no_stretch;
    set_end(thread);
  }

  // Of its stretch, as it has its CPU from takes_up on.
  void set_end(std::uint32_t thread) {
    const ThreadState& state = threads_[thread];
    next_.set(thread, on_cpu_[state.cpu].interrupts.delayed(state.takes_up +
                                                            stretched(state.left, state.cpu)));
  }

  // Its thread is in a call that takes so long besides.
  void keep_busy(std::uint32_t cpu, std::int64_t cost) {
    std::int64_t& until = on_cpu_[cpu].busy_until;
    until = std::max(until, now_) + cost;
  }

  void leave_cpu(std::uint32_t thread, Next next, StretchIndex node) {
    ThreadState& state = threads_[thread];
    const std::uint32_t cpu = state.cpu;
    OffCpu why = OffCpu::waited;
    if (next == Next::ends)
      why = OffCpu::ended;
    else if (next == Next::waits)
      why = OffCpu::slept;
    if (next == Next::ends && in_flight_)
      in_flight_->ended(thread, {now_, cpu, node});
    if (next == Next::blocks) {
      keep_busy(cpu, costs_.block_before);
      cpus_.call_lasts_ = costs_.block_before;
    }
    cpus_.current_[cpu] = no_thread;
    next_.drop(thread);
    scheduler_->stopped(thread, cpu, why, now_);
    cpus_.call_lasts_ = 0;
    go_on_off_cpu(thread, next, node);
    cpus_.reschedule(cpu);
  }

  void let_go(const Release& release, StretchIndex node, std::uint32_t waker) {
    ThreadState& state = threads_[release.thread];
    if (state.spins) [[unlikely]] {
      end_spinning(release, node, waker);
      return;
    }
    if (state.doing != Doing::not_started)
      state.was = OffCpu::waited;
    const Next next = onward(release.thread, release.next);
    if (state.doing == Doing::blocked)
      state.left += costs_.block_behind;
    go_on_off_cpu(release.thread, next, node, waker);
    let_choose(waker);
  }

  // What comes next for a thread that is not on a CPU.
  void go_on_off_cpu(std::uint32_t thread, Next next, StretchIndex node,
                     std::uint32_t waker = no_cpu) {
    ThreadState& state = threads_[thread];
    state.released_by = node;
    state.ready = state.start = now_;
    switch (next) {
      case Next::jumps:
      case Next::retries:
      case Next::runs:
        make_ready(thread, waker);
        return;
      case Next::waits:
        state.doing = Doing::waiting;
        state.was = OffCpu::slept;
        next_.set(thread, now_ + state.events[state.event].duration.count());
        return;
      case Next::blocks:
        state.doing = Doing::blocked;
        state.was = OffCpu::waited;
        next_.drop(thread);
        return;
      case Next::ends:
        if (state.doing == Doing::waiting)
          scheduler_->cancelled(thread, now_);
        state.doing = Doing::ended;
        next_.drop(thread);
        return;
    }
  }

  void make_ready(std::uint32_t thread, std::uint32_t waker) {
    ThreadState& state = threads_[thread];
    const bool is_released = waker != no_cpu && state.doing == Doing::blocked;
    const std::uint32_t cpu = scheduler_->place(thread, state.was, waker, now_);
    state.comes_from_afar = waker != no_cpu && cpu != waker;
    if (in_flight_ && waker != no_cpu) {
      const Nanoseconds latency = machine_.latency_between(waker, cpu);
      if (latency > Nanoseconds{}) {
        state.doing = Doing::signalled;
        state.cpu = cpu;
        next_.set(thread, now_ + latency.count());
        if (is_released)
          keep_busy(waker, costs_.release_afar);
        return;
      }
    }
    cpus_.interrupts_ = false;
    cpus_.call_lasts_ = is_released ? costs_.release : 0;
    queue(thread, cpu);
    cpus_.call_lasts_ = 0;
    const bool is_waking_up = on_cpu_[cpu].awake > now_;
    const bool is_interrupted = cpus_.interrupts_ && !is_waking_up;
    if (is_released)
      keep_busy(waker, cost_of_release(is_interrupted, state.wakes_cpu, cpu));
    if (is_interrupted)
      interrupt(cpu);
  }

  // By another CPU, for a thread that is to have it.
  void interrupt(std::uint32_t cpu) {
    const std::int64_t taken = on_cpu_[cpu].interrupts.send(now_);
    const std::uint32_t thread = cpus_.current_[cpu];
    if (thread == no_thread || threads_[thread].spins)
      return;
    threads_[thread].takes_up += taken;
    set_end(thread);
  }

  void queue(std::uint32_t thread, std::uint32_t cpu) {
    ThreadState& state = threads_[thread];
    state.doing = Doing::queued;
    state.wakes_cpu = std::exchange(state.comes_from_afar, false) && is_asleep(cpu);
    next_.drop(thread);
    scheduler_->enqueue(thread, cpu, state.was, now_);
  }

  // Idle, and for so long that it does not notice a thread without an interrupt.
  [[nodiscard]] bool is_asleep(std::uint32_t cpu) const {
    return cpus_.idle(cpu) && idle_since(cpu) + costs_.fall_asleep <= now_;
  }
  // Of one that is asleep.
  [[nodiscard]] bool is_deeply_asleep(std::uint32_t cpu) const {
    return costs_.sleep_deeply > 0 && idle_since(cpu) + costs_.sleep_deeply <= now_;
  }
  [[nodiscard]] std::int64_t idle_since(std::uint32_t cpu) const {
    return std::max(on_cpu_[cpu].last_end, on_cpu_[cpu].busy_until);
  }

  [[nodiscard]] std::int64_t cost_of_release(bool is_interrupted, bool wakes_cpu,
                                             std::uint32_t cpu) const {
    if (wakes_cpu)
      return is_deeply_asleep(cpu) ? costs_.deep_release : costs_.release_afar;
    return is_interrupted ? costs_.release_afar : costs_.release;
  }

  // The CPUs that were asked to, but for `busy`: its thread is still in its call.
  void let_choose(std::uint32_t busy);
  void choose(std::uint32_t cpu);
  void take_up(std::uint32_t thread, std::uint32_t cpu);
  // The CPU is taken from a thread that could have gone on.
  void cut(std::uint32_t thread);
  // The thread's stretch ends here. `cpu`: no_cpu where it was off it.
  StretchIndex emit(std::uint32_t thread, std::uint32_t cpu, bool cut);

  [[nodiscard]] std::int64_t stretched(std::int64_t work, std::uint32_t cpu) const {
    const std::uint32_t speed = on_cpu_[cpu].speed;
    if (speed == recorded_speed) [[likely]]
      return work;
    return static_cast<std::int64_t>((Wide{work} * recorded_speed + speed - 1) / speed);
  }

  void find_deadlock() {
    for (std::uint32_t t = 0; t < threads_.size(); ++t) {
      const ThreadState& state = threads_[t];
      const bool in_vain = state.spins || (state.doing == Doing::queued && state.retries);
      if (state.doing == Doing::blocked || in_vain)
        synchronization_.add_blocked(t, state.event, Nanoseconds{state.ready}, end_.deadlock);
    }
  }

  const Machine& machine_;
  StretchConsumer& consumer_;
  Synchronization synchronization_;
  std::optional<SignalsInFlight> in_flight_;  // where signals between CPUs take time
  MachineCosts costs_;
  OwnWork own_work_;
  Cpus cpus_;
  std::unique_ptr<Scheduler> scheduler_;
  Tournament<Key> next_;  // when each thread's stretch or wait ends
  std::vector<ThreadState> threads_;
  std::vector<CpuState> on_cpu_;
  LockPlaces lock_places_;
  std::uint32_t spinning_ = 0;  // threads
  bool has_costs_ = false;
  bool exited_ = false;
  std::int64_t now_ = 0;
  SimulatedEnd end_;
};

}  // namespace longpole::simulation
