#include <algorithm>
#include <bit>

#include "simulation/scheduler.h"

namespace longpole::simulation {
namespace {

constexpr std::uint32_t word_bits = 64;

}  // namespace

Cpus::Cpus(const Machine& machine, const Recording& recording)
    : current_(machine.cpus, no_thread),
      idle_((machine.cpus + word_bits - 1) / word_bits, ~std::uint64_t{0}),
      last_cpu_(recording.threads.size(), no_cpu),
      rules_(recording.threads.size()),
      wake_at_once_(machine.wake_up.value_or(recording.run.costs.wake_up) <= Nanoseconds{}),
      interrupt_(machine.interrupt.value_or(recording.run.costs.interrupt).count()),
      tick_(tick_of(machine, recording).count()),
      idle_look_(machine.idle_look.value_or(recording.run.costs.idle_look).count()),
      packed_use_(machine.packed_use.value_or(recording.run.costs.packed_use).count()),
      is_asked_(machine.cpus, false),
      timers_(machine.cpus + 1) {
  if (machine.cpus % word_bits != 0)
    idle_.back() = (std::uint64_t{1} << machine.cpus % word_bits) - 1;
  for (std::size_t t = 0; t < rules_.size(); ++t) {
    ThreadRules& rules = rules_[t];
    const Thread& thread = recording.threads[t];
    const ThreadSettings settings =
        t < machine.threads.size() ? machine.threads[t] : ThreadSettings{};
    if (settings.cpu)
      rules.only_cpu = *settings.cpu;
    else if (thread.bound_to)
      rules.only_cpu = *thread.bound_to % machine.cpus;
    const std::optional<std::int32_t> priority =
        settings.priority ? settings.priority : thread.priority;
    rules.priority = priority.value_or(0);
    rules.nice = settings.nice;
    rules.round_robin = settings.round_robin;
    // A thread that is bound to a CPU is bound to an LWP (thesis, Paper I section 3.2).
    rules.bound_to_lwp = settings.bound_to_lwp || rules.only_cpu != no_cpu;
    if (thread.creator.known())
      rules.creator = thread.creator.value;
  }
}

std::uint32_t Cpus::idle_from(std::uint32_t from) const {
  const std::size_t words = idle_.size();
  const std::size_t first = from / word_bits;
  const std::uint64_t low = (std::uint64_t{1} << from % word_bits) - 1;
  // The word of `from` is looked at twice: first its upper part, last its lower one.
  for (std::size_t i = 0; i <= words; ++i) {
    const std::size_t at = (first + i) % words;
    const std::uint64_t wanted = i == 0 ? ~low : i == words ? low : ~std::uint64_t{0};
    if (const std::uint64_t found = idle_[at] & wanted; found != 0)
      return static_cast<std::uint32_t>(at * word_bits) +
             static_cast<std::uint32_t>(std::countr_zero(found));
  }
  return no_cpu;
}

std::uint32_t Cpus::last_or_idle(std::uint32_t thread, std::uint32_t waker) const {
  if (rules_[thread].only_cpu != no_cpu)
    return rules_[thread].only_cpu;
  const std::uint32_t last = last_cpu_[thread];
  if (last != no_cpu && idle(last))
    return last;
  if (const std::uint32_t first_idle = idle_from(0); first_idle != no_cpu)
    return first_idle;
  if (last != no_cpu)
    return last;
  return waker == no_cpu ? 0 : waker;
}

void Cpus::reschedule(std::uint32_t cpu) {
  if (is_asked_[cpu])
    return;
  is_asked_[cpu] = true;
  idle_[cpu / word_bits] &= ~(std::uint64_t{1} << cpu % word_bits);
  asked_.push_back(cpu);
}

}  // namespace longpole::simulation
