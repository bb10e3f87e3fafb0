#include "analysis/execution.h"

#include <algorithm>

#include "analysis/critical_path.h"
#include "analysis/path.h"
#include "simulation/simulate.h"

namespace longpole::analysis {

using simulation::no_segment;
using simulation::no_stretch;
using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;
using simulation::Stretch;
using simulation::TimesCpus;

Execution::Execution(std::shared_ptr<const Recording> recording,
                     std::shared_ptr<const Schedule> schedule, std::uint32_t cpus,
                     Scheduler scheduler)
    : recording_(std::move(recording)),
      schedule_(std::move(schedule)),
      begin_(&schedule_->thread_begin),
      cpus_(cpus),
      shares_(scheduler == Scheduler::shared),
      total_(schedule_->total) {
  const auto threads = static_cast<std::uint32_t>(std::max<std::size_t>(thread_count(), 1));
  const std::uint32_t useful = shares_ ? std::min(cpus, threads) : threads;
  if (useful < threads)
    stretch_axis();
  find_path_of_ideal(useful);
  find_stopped();
}

Execution::Execution(std::shared_ptr<const Recording> recording, simulation::SimulatedRun run,
                     std::uint32_t cpus)
    : recording_(std::move(recording)),
      run_(std::move(run)),
      machine_begin_(recording_->threads.size() + 1, 0),
      begin_(&machine_begin_),
      cpus_(cpus),
      total_(run_.end.total) {
  // From the order of ends to that of threads.
  for (const Stretch& stretch : run_.stretches)
    ++machine_begin_[stretch.thread + 1];
  for (std::size_t t = 1; t < machine_begin_.size(); ++t)
    machine_begin_[t] += machine_begin_[t - 1];
  simulation::LargeArray<PartIndex> place(run_.stretches.size());
  std::vector<PartIndex> next(machine_begin_.begin(), machine_begin_.end() - 1);
  for (std::size_t i = 0; i < run_.stretches.size(); ++i)
    place[i] = next[run_.stretches[i].thread]++;
  const PartIndex last = run_.stretches.empty() ? no_part : place.back();
  simulation::LargeArray<Stretch> by_thread(run_.stretches.size());
  const auto moved = [&](PartIndex index) { return index == no_stretch ? no_part : place[index]; };
  for (std::size_t i = 0; i < run_.stretches.size(); ++i) {
    Stretch& stretch = by_thread[place[i]];
    stretch = run_.stretches[i];
    stretch.released_by = moved(stretch.released_by);
    stretch.given_by = moved(stretch.given_by);
  }
  run_.stretches = std::move(by_thread);
  find_path_of_machine(last);
  find_stopped();
}

const std::optional<simulation::Deadlock>& Execution::deadlock() const {
  return schedule_ != nullptr ? schedule_->deadlock : run_.end.deadlock;
}

Nanoseconds Execution::end_of(PartIndex index) const {
  if (schedule_ == nullptr)
    return run_.stretches[index].end;
  return ends_.empty() ? schedule_->segments[index].end : Nanoseconds{ends_[index]};
}

Part Execution::part(PartIndex index) const {
  Part part;
  if (schedule_ == nullptr) {
    const Stretch& stretch = run_.stretches[index];
    part.ready = stretch.ready;
    part.start = stretch.start;
    part.end = stretch.end;
    part.length = stretch.end - stretch.start;
    part.released_by = stretch.released_by;
    part.given_by = stretch.given_by;
    part.event = stretch.event;
    part.thread = stretch.thread;
    part.cpu = stretch.cpu;
    part.running = stretch.running();
    part.cut = stretch.cut != 0;
    return part;
  }
  const Segment& segment = schedule_->segments[index];
  part.start = part.ready =
      segment.released_by == no_segment ? segment.start : end_of(segment.released_by);
  part.end = end_of(index);
  part.length = segment.end - segment.start;
  part.released_by = segment.released_by;
  part.event = segment.event;
  part.thread = segment.thread.value;
  part.running = segment.running;
  return part;
}

SpanState Execution::state_of(const Part& part) const {
  if (part.running)
    return SpanState::running;
  switch (event(part).kind) {
    case EventKind::sleep:
      return SpanState::sleeping;
    case EventKind::io:
    case EventKind::external_wait:
      return SpanState::io;
    default:
      return SpanState::blocked;
  }
}

bool Execution::makes_call(PartIndex index) const {
  const Part now = part(index);
  if (!now.running || now.cut)
    return false;
  if (index == begin(now.thread))
    return true;
  const Part before = part(index - 1);
  return before.event != now.event || before.cut;
}

PartIndex Execution::part_of_call(std::uint32_t thread, std::uint32_t event) const {
  PartIndex low = begin(thread);
  PartIndex high = end(thread);
  // In order, but where a model lets the thread go on behind another of its waits.
  while (low < high) {
    const PartIndex middle = low + (high - low) / 2;
    if (part(middle).event < event)
      low = middle + 1;
    else
      high = middle;
  }
  for (PartIndex index = low; index < end(thread) && part(index).event == event; ++index) {
    if (makes_call(index))
      return index;
  }
  for (PartIndex index = begin(thread); index < end(thread); ++index) {
    if (part(index).event == event && makes_call(index))
      return index;
  }
  return no_part;
}

PartIndex Execution::first_after(std::uint32_t thread, Nanoseconds time) const {
  PartIndex low = begin(thread);
  PartIndex high = end(thread);
  while (low < high) {
    const PartIndex middle = low + (high - low) / 2;
    if (end_of(middle) <= time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

double Execution::weight(PartIndex index) const {
  return scaled_weights_.empty()
             ? 0
             : static_cast<double>(scaled_weights_[index]) / static_cast<double>(weight_scale_);
}

// P · time on the stretched axis is a whole number; the axis has its whole nanoseconds.
void Execution::stretch_axis() {
  ends_.resize(schedule_->segments.size());
  TimesCpus scaled = 0;
  std::int64_t before = 0;
  std::uint32_t running = schedule_->running_at_start;
  for (const SegmentIndex index : schedule_->by_end) {
    const Segment& segment = schedule_->segments[index];
    const std::int64_t end = segment.end.count();
    scaled += TimesCpus{end - before} * std::max(running, cpus_);
    before = end;
    running = segment.running_after;
    ends_[index] = static_cast<std::int64_t>(scaled / cpus_);
  }
  if (!schedule_->by_end.empty())
    total_ = Nanoseconds{ends_[schedule_->by_end.back()]};
}

void Execution::find_path_of_ideal(std::uint32_t useful_cpus) {
  Weights weights = extended_critical_path(*schedule_, useful_cpus);
  for (const PathStep& step : heaviest_path(*schedule_, weights)) {
    const Part at = part(step.segment);
    path_.push_back({step.segment, at.start, at.end,
                     step.woken_by.known() ? Arrival::released : Arrival::onward});
  }
  weight_scale_ = weights.cpus;
  scaled_weights_ = std::move(weights.scaled);
}

// A thread that waited for a CPU hangs on the one that gave it up.
void Execution::find_path_of_machine(PartIndex last) {
  scaled_weights_.resize(run_.stretches.size());
  std::fill(scaled_weights_.begin(), scaled_weights_.end(), 0);
  for (PartIndex index = last; index != no_part;) {
    const Stretch& stretch = run_.stretches[index];
    const bool waited = stretch.start > stretch.ready && stretch.given_by != no_part;
    const PartIndex before = waited ? stretch.given_by : stretch.released_by;
    Arrival arrival = Arrival::onward;
    if (before != no_part && run_.stretches[before].thread != stretch.thread)
      arrival = waited ? Arrival::given : Arrival::released;
    scaled_weights_[index] = 1;
    if (stretch.end > stretch.start)
      path_.push_back({index, stretch.start, stretch.end, arrival});
    else if (!path_.empty() && arrival != Arrival::onward &&
             path_.back().arrival == Arrival::onward)
      path_.back().arrival = arrival;
    index = before;
  }
  std::reverse(path_.begin(), path_.end());
}

void Execution::find_stopped() {
  stands_still_.resize(thread_count(), false);
  if (const auto& standstill = deadlock()) {
    for (const simulation::Blocked& blocked : standstill->threads)
      stands_still_[blocked.thread.index()] = true;
  }
  for (std::uint32_t t = 0; t < thread_count(); ++t) {
    if (begin(t) != end(t) && event(part(end(t) - 1)).outcome == Outcome::unfinished)
      stands_still_[t] = true;
  }
}

}  // namespace longpole::analysis
