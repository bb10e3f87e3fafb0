#include "simulation/linux_real_time.h"

#include <algorithm>
#include <limits>

namespace longpole::simulation {
namespace {

constexpr std::int64_t round_robin_slice = 100'000'000;

}  // namespace

RealTimeQueues::RealTimeQueues(Cpus& cpus)
    : cpus_(cpus), queues_(cpus.count()), states_(cpus.rules().size()) {}

RealTimeQueues::Entry RealTimeQueues::entry_of(std::uint32_t thread) const {
  return {-std::int64_t{cpus_.rules(thread).priority}, states_[thread].turn, thread};
}

// −1: nobody, 0: others, else the priority of the highest that runs or waits there.
std::int64_t RealTimeQueues::importance(std::uint32_t cpu) const {
  const Queue& queue = queues_[cpu];
  std::int64_t importance = cpus_.idle(cpu) ? -1 : 0;
  if (queue.current != no_thread)
    importance = cpus_.rules(queue.current).priority;
  if (!queue.waiting.empty())
    importance = std::max(importance, -std::get<0>(*queue.waiting.begin()));
  return importance;
}

std::uint32_t RealTimeQueues::place(std::uint32_t thread) const {
  if (cpus_.rules(thread).only_cpu != no_cpu)
    return cpus_.rules(thread).only_cpu;
  const std::uint32_t last = cpus_.last_cpu(thread);
  std::uint32_t least = last == no_cpu ? 0 : last;
  for (std::uint32_t cpu = 0; cpu < cpus_.count(); ++cpu) {
    if (importance(cpu) < importance(least))
      least = cpu;
  }
  return least;
}

void RealTimeQueues::renew(std::uint32_t thread) {
  states_[thread] = {++turns_, round_robin_slice};
}

void RealTimeQueues::put_in(std::uint32_t thread, std::uint32_t cpu) {
  Queue& queue = queues_[cpu];
  queue.waiting.insert(entry_of(thread));
  ++waiting_;
  if (queue.current == no_thread ||
      cpus_.rules(queue.current).priority < cpus_.rules(thread).priority)
    cpus_.reschedule(cpu);
  else
    push(cpu);
}

void RealTimeQueues::take_out(std::uint32_t thread, std::uint32_t cpu) {
  queues_[cpu].waiting.erase(entry_of(thread));
  --waiting_;
}

std::uint32_t RealTimeQueues::next(std::uint32_t cpu) {
  Queue& queue = queues_[cpu];
  std::uint32_t from = no_cpu;
  Entry best{std::numeric_limits<std::int64_t>::max(), 0, no_thread};
  if (queue.current != no_thread)
    best = entry_of(queue.current);
  for (std::uint32_t i = 0; i < cpus_.count(); ++i) {
    const std::uint32_t other = (cpu + i) % cpus_.count();
    for (const Entry& entry : queues_[other].waiting) {
      const std::uint32_t only = cpus_.rules(std::get<2>(entry)).only_cpu;
      if (only != no_cpu && only != cpu)
        continue;
      // Of one priority, those from here go first.
      if (other == cpu ? entry < best : std::get<0>(entry) < std::get<0>(best)) {
        best = entry;
        from = other;
      }
      break;
    }
  }
  if (from != no_cpu && from != cpu) {
    queues_[from].waiting.erase(best);
    queue.waiting.insert(best);
  }
  return std::get<2>(best);
}

void RealTimeQueues::push(std::uint32_t cpu) {
  std::set<Entry>& waiting = queues_[cpu].waiting;
  for (auto entry = waiting.begin(); entry != waiting.end();) {
    const std::uint32_t thread = std::get<2>(*entry);
    const std::uint32_t to = place(thread);
    if (to == cpu || importance(to) >= cpus_.rules(thread).priority) {
      ++entry;
      continue;
    }
    entry = waiting.erase(entry);
    --waiting_;
    put_in(thread, to);
  }
}

void RealTimeQueues::charge(std::uint32_t cpu, std::int64_t time) {
  states_[queues_[cpu].current].slice_left -= time;
}

std::int64_t RealTimeQueues::slice_left(std::uint32_t cpu) const {
  const Queue& queue = queues_[cpu];
  if (!cpus_.rules(queue.current).round_robin || queue.waiting.empty() ||
      std::get<0>(*queue.waiting.begin()) != std::get<0>(entry_of(queue.current)))
    return -1;
  return std::max<std::int64_t>(0, states_[queue.current].slice_left);
}

}  // namespace longpole::simulation
