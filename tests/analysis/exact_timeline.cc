#include "exact_timeline.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "simulation/simulate.h"

namespace longpole::analysis {
namespace {

SpanState waiting_state(const Event& event) {
  if (event.kind == EventKind::sleep)
    return SpanState::sleeping;
  return event.kind == EventKind::io || event.kind == EventKind::external_wait ? SpanState::io
                                                                               : SpanState::blocked;
}

void add(ExactThread& thread, Time start, Time end, SpanState state, std::uint32_t event) {
  if (end > start)
    thread.spans.push_back({start, end, state, event});
}

// Threads that never go on are blocked up to the end.
void stand_still(const Recording& recording, const std::optional<simulation::Deadlock>& deadlock,
                 const std::vector<std::pair<Time, std::uint32_t>>& last, Exact& exact) {
  std::set<std::uint32_t> still;
  if (deadlock) {
    for (const simulation::Blocked& blocked : deadlock->threads)
      still.insert(blocked.thread.value);
  }
  for (std::uint32_t t = 0; t < last.size(); ++t) {
    if (last[t].first < 0)
      continue;
    if (recording.threads[t].events[last[t].second].outcome == Outcome::unfinished)
      still.insert(t);
    if (still.contains(t))
      add(exact.threads[t], last[t].first, exact.total, SpanState::blocked, last[t].second);
  }
}

}  // namespace

Exact exact_of(const Recording& recording, const simulation::Schedule& schedule,
               std::uint32_t shared_cpus) {
  const auto steps = simulation::concurrency(schedule);
  const auto on_axis = [&](Nanoseconds time) {
    if (shared_cpus == 0)
      return time.count();
    simulation::TimesCpus sum = 0;
    for (std::size_t i = 0; i + 1 < steps.size() && steps[i].time < time; ++i)
      sum += simulation::TimesCpus{(std::min(time, steps[i + 1].time) - steps[i].time).count()} *
             std::max(steps[i].running, shared_cpus);
    return static_cast<Time>(sum / shared_cpus);
  };
  Exact exact;
  exact.total = on_axis(schedule.total);
  exact.shared_cpus = shared_cpus;
  exact.threads.resize(recording.threads.size());
  std::vector<std::pair<Time, std::uint32_t>> last(recording.threads.size(), {-1, 0});
  for (const simulation::Segment& segment : schedule.segments) {
    const std::uint32_t t = segment.thread.value;
    const Event& event = recording.threads[t].events[segment.event];
    const Time start = on_axis(segment.start);
    const Time end = on_axis(segment.end);
    if (last[t].first >= 0)
      add(exact.threads[t], last[t].first, start, SpanState::blocked, last[t].second);
    add(exact.threads[t], start, end, segment.running ? SpanState::running : waiting_state(event),
        segment.event);
    if (segment.running && is_shown_call(event.kind))
      exact.threads[t].calls.push_back({end, segment.event, event.kind});
    last[t] = {end, segment.event};
  }
  stand_still(recording, schedule.deadlock, last, exact);
  return exact;
}

Exact exact_of(const Recording& recording, const simulation::SimulatedRun& run) {
  Exact exact;
  exact.total = run.end.total.count();
  exact.threads.resize(recording.threads.size());
  std::vector<std::pair<Time, std::uint32_t>> last(recording.threads.size(), {-1, 0});
  std::vector<std::set<std::uint32_t>> made(recording.threads.size());
  for (const simulation::Stretch& stretch : run.stretches) {
    ExactThread& thread = exact.threads[stretch.thread];
    const Event& event = recording.threads[stretch.thread].events[stretch.event];
    if (last[stretch.thread].first >= 0)
      add(thread, last[stretch.thread].first, stretch.ready.count(), SpanState::blocked,
          last[stretch.thread].second);
    add(thread, stretch.ready.count(), stretch.start.count(), SpanState::runnable, stretch.event);
    add(thread, stretch.start.count(), stretch.end.count(),
        stretch.running() ? SpanState::running : waiting_state(event), stretch.event);
    if (stretch.running() && stretch.cut == 0 && is_shown_call(event.kind) &&
        made[stretch.thread].insert(stretch.event).second)
      thread.calls.push_back({stretch.end.count(), stretch.event, event.kind});
    last[stretch.thread] = {stretch.end.count(), stretch.event};
  }
  stand_still(recording, run.end.deadlock, last, exact);
  return exact;
}

}  // namespace longpole::analysis
