#include "schedule_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace longpole::simulation {
namespace {

struct Busy {
  Nanoseconds start;
  Nanoseconds end;
  bool waited;  // its thread was ready before it began
};
using BusyTimes = std::vector<std::vector<Busy>>;  // per CPU

Nanoseconds wake_up_of(const Machine& machine) {
  return machine.wake_up.value_or(Nanoseconds{});
}

bool may_use(const Recording& recording, const Machine& machine, std::uint32_t thread,
             std::uint32_t cpu) {
  const auto& bound_to = recording.threads[thread].bound_to;
  return cpu < machine.cpus && (!bound_to || *bound_to % machine.cpus == cpu);
}

// At a time.
Nanoseconds longest_idle(const Machine& machine) {
  if (machine.scheduler != SchedulerKind::linux_fair || wake_up_of(machine) == Nanoseconds{})
    return wake_up_of(machine);
  const Nanoseconds tick = machine.tick.value_or(usual_tick);
  const auto between_looks = 2 * machine.cpus * Nanoseconds{1'000'000};
  const auto until_told = 16 * machine.cpus * Nanoseconds{1'000'000};
  return until_told + 3 * ((between_looks + tick - Nanoseconds{1}) / tick * tick);
}

// The first that ends after that; those of a CPU come one after the other.
std::vector<Busy>::const_iterator first_after(const std::vector<Busy>& cpu, Nanoseconds time) {
  return std::partition_point(cpu.begin(), cpu.end(),
                              [&](const Busy& busy) { return busy.end <= time; });
}

// Since when the thread of `waits` had no CPU. One may have woken up for it, and then run a thread that came meanwhile. The
// thread for which a CPU wakes up counts as ready once it is awake.
Nanoseconds without_cpu_since(const BusyTimes& busy, const Stretch& waits, Nanoseconds wake_up) {
  const Nanoseconds awake = waits.ready + wake_up;
  const bool one_woke_up = awake < waits.start &&
                           std::any_of(busy.begin(), busy.end(), [&](const std::vector<Busy>& cpu) {
                             const auto first = first_after(cpu, waits.ready);
                             return first != cpu.end() && first->start == awake && first->waited;
                           });
  return one_woke_up ? awake : waits.ready;
}

// For longer at a time than that, while the thread of `waits` had no CPU.
bool is_idle_too_long(const std::vector<Busy>& cpu, const Stretch& waits, Nanoseconds from,
                      Nanoseconds most) {
  for (auto busy = first_after(cpu, from); busy != cpu.end(); ++busy) {
    if (busy->start >= waits.start || busy->start > from + most)
      break;
    from = busy->end;
  }
  return from + most < waits.start;
}

class RuleBook {
 public:
  RuleBook(const Recording& recording, const Machine& machine, const SimulatedRun& run)
      : recording_(recording), machine_(machine), run_(run), on_(machine.cpus) {}

  std::string broken() {
    std::vector<Nanoseconds> thread_free(recording_.threads.size());
    std::vector<Nanoseconds> spent(recording_.threads.size());
    std::vector<std::uint32_t> reached(recording_.threads.size(), 0xffffffffU);
    Nanoseconds now{};
    for (StretchIndex i = 0; i < run_.stretches.size(); ++i) {
      const Stretch& stretch = run_.stretches[i];
      const auto say = [&](const char* rule) {
        return fmt::format("stretch {} of {}, event {}, {}-{}: {}", i,
                           recording_.threads[stretch.thread].name, stretch.event,
                           stretch.start.count(), stretch.end.count(), rule);
      };
      if (stretch.ready > stretch.start || stretch.start > stretch.end || stretch.end < now)
        return say("out of order");
      now = stretch.end;
      if (stretch.ready < thread_free[stretch.thread])
        return say("its thread is elsewhere");
      thread_free[stretch.thread] = stretch.end;
      if (!has_right_causes(i))
        return say("it hangs on the wrong stretch");
      if (!stretch.running())
        continue;
      if (!may_use(recording_, machine_, stretch.thread, stretch.cpu))
        return say("its thread may not use that CPU");
      std::vector<Busy>& busy = on_[stretch.cpu];
      if (!busy.empty() && busy.back().end > stretch.start)
        return say("the CPU runs another");
      busy.push_back({stretch.start, stretch.end, stretch.ready < stretch.start});
      if (stretch.spins != 0) {
        if (reached[stretch.thread] != stretch.event)
          return say("it spins before it has come to its lock");
        continue;
      }
      spent[stretch.thread] += stretch.end - stretch.start;
      if (stretch.cut != 0)
        continue;
      const Event& event = recording_.threads[stretch.thread].events[stretch.event];
      // Who tries again for a lock makes the same call once more, in no time.
      const bool tries_again =
          std::exchange(reached[stretch.thread], stretch.event) == stretch.event;
      if (spent[stretch.thread] != (tries_again ? Nanoseconds{} : event.cpu))
        return say("it was not computed for as long as recorded");
      spent[stretch.thread] = Nanoseconds{};
    }
    if (machine_.scheduler == SchedulerKind::fifo) {
      if (std::string broken = lower_beside_waiting(); !broken.empty())
        return broken;
    }
    return idle_beside_waiting(recording_, machine_, run_);
  }

 private:
  [[nodiscard]] std::int32_t priority(std::uint32_t thread) const {
    return recording_.threads[thread].priority.value_or(0);
  }

  [[nodiscard]] std::string lower_beside_waiting() const {
    for (const Stretch& waiting : run_.stretches) {
      const Nanoseconds since = waiting.ready + wake_up_of(machine_);
      if (!waiting.running() || since >= waiting.start)
        continue;
      for (const Stretch& other : run_.stretches) {
        if (other.running() && other.start < waiting.start && other.end > since &&
            other.start < other.end && priority(other.thread) < priority(waiting.thread) &&
            may_use(recording_, machine_, waiting.thread, other.cpu))
          return fmt::format("{} waits from {} to {} beside {}, of lower priority, on CPU {}",
                             recording_.threads[waiting.thread].name, waiting.ready.count(),
                             waiting.start.count(), recording_.threads[other.thread].name,
                             other.cpu);
      }
    }
    return {};
  }

  [[nodiscard]] bool has_right_causes(StretchIndex index) const {
    const Stretch& stretch = run_.stretches[index];
    if (stretch.released_by == no_stretch) {
      if (stretch.ready != Nanoseconds{})
        return false;
    } else {
      if (stretch.released_by >= index)
        return false;
      const Nanoseconds since = stretch.ready - run_.stretches[stretch.released_by].end;
      if (since != Nanoseconds{} && since != wake_up_of(machine_))
        return false;
    }
    if (stretch.start == stretch.ready)
      return stretch.given_by == no_stretch;
    const std::vector<Busy>& before = on_[stretch.cpu];
    if (stretch.given_by == no_stretch)
      return before.empty() || before.back().end <= stretch.ready;
    const Stretch& giver = run_.stretches[stretch.given_by];
    return stretch.given_by < index && giver.cpu == stretch.cpu && giver.end == before.back().end &&
           giver.end > stretch.ready;
  }

  const Recording& recording_;
  const Machine& machine_;
  const SimulatedRun& run_;
  BusyTimes on_;
};

}  // namespace

std::string broken_rule(const Recording& recording, const Machine& machine,
                        const SimulatedRun& run) {
  return RuleBook(recording, machine, run).broken();
}

std::string idle_beside_waiting(const Recording& recording, const Machine& machine,
                                const SimulatedRun& run) {
  BusyTimes busy(machine.cpus);
  for (const Stretch& stretch : run.stretches) {
    if (stretch.running())
      busy[stretch.cpu].push_back({stretch.start, stretch.end, stretch.ready < stretch.start});
  }
  const Nanoseconds most = longest_idle(machine);
  for (const Stretch& stretch : run.stretches) {
    if (!stretch.running())
      continue;
    const Nanoseconds since = without_cpu_since(busy, stretch, wake_up_of(machine));
    for (std::uint32_t cpu = 0; cpu < machine.cpus; ++cpu) {
      if (may_use(recording, machine, stretch.thread, cpu) &&
          is_idle_too_long(busy[cpu], stretch, since, most))
        return fmt::format("{} waits from {} to {} beside idle CPU {}",
                           recording.threads[stretch.thread].name, stretch.ready.count(),
                           stretch.start.count(), cpu);
    }
  }
  return {};
}

}  // namespace longpole::simulation
