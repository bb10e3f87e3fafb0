#include "schedule_rules.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace longpole::simulation {
namespace {

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
      if (!may_use(stretch.thread, stretch.cpu))
        return say("its thread may not use that CPU");
      std::vector<Busy>& busy = on_[stretch.cpu];
      if (!busy.empty() && busy.back().end > stretch.start)
        return say("the CPU runs another");
      busy.push_back({stretch.start, stretch.end});
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
    for (const Stretch& stretch : run_.stretches) {
      for (std::uint32_t cpu = 0; cpu < machine_.cpus; ++cpu) {
        if (stretch.running() && may_use(stretch.thread, cpu) && is_idle_too_long(cpu, stretch))
          return fmt::format("{} waits from {} to {} beside idle CPU {}",
                             recording_.threads[stretch.thread].name, stretch.ready.count(),
                             stretch.start.count(), cpu);
      }
    }
    return {};
  }

 private:
  struct Busy {
    Nanoseconds start;
    Nanoseconds end;
  };

  [[nodiscard]] bool may_use(std::uint32_t thread, std::uint32_t cpu) const {
    const auto& bound_to = recording_.threads[thread].bound_to;
    return cpu < machine_.cpus && (!bound_to || *bound_to % machine_.cpus == cpu);
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
      if (since != Nanoseconds{} && since != wake_up())
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

  [[nodiscard]] Nanoseconds wake_up() const { return machine_.wake_up.value_or(Nanoseconds{}); }

  // For longer at a time than the scheduler may leave a CPU idle beside a thread.
  [[nodiscard]] bool is_idle_too_long(std::uint32_t cpu, const Stretch& waits) const {
    const Nanoseconds most = longest_idle();
    Nanoseconds from = waits.ready;
    for (const Busy& busy : on_[cpu]) {
      if (busy.end <= from)
        continue;
      if (busy.start >= waits.start || busy.start > from + most)
        break;
      from = busy.end;
    }
    return from + most < waits.start;
  }
  [[nodiscard]] Nanoseconds longest_idle() const {
    if (machine_.scheduler != SchedulerKind::linux_fair || wake_up() == Nanoseconds{})
      return {};
    const auto between_looks = 2 * machine_.cpus * Nanoseconds{1'000'000};
    const auto until_told = 16 * machine_.cpus * Nanoseconds{1'000'000};
    return until_told +
           3 * ((between_looks + machine_.tick - Nanoseconds{1}) / machine_.tick * machine_.tick);
  }

  const Recording& recording_;
  const Machine& machine_;
  const SimulatedRun& run_;
  std::vector<std::vector<Busy>> on_;  // per CPU
};

}  // namespace

std::string broken_rule(const Recording& recording, const Machine& machine,
                        const SimulatedRun& run) {
  return RuleBook(recording, machine, run).broken();
}

}  // namespace longpole::simulation
