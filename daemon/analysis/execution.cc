#include "analysis/execution.h"

#include <algorithm>
#include <future>

#include "analysis/critical_path.h"
#include "analysis/path.h"
#include "simulation/simulate.h"

namespace longpole::analysis {

using simulation::LargeArray;
using simulation::no_segment;
using simulation::no_stretch;
using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;
using simulation::Stretch;
using simulation::StretchIndex;
using simulation::TimesCpus;

namespace {

// From where the path came to a part without length, it came to the next.
class PathOfParts {
 public:
  explicit PathOfParts(PathIndex& path) : path_(path) {}

  void add(PathPart part, bool is_empty) {
    if (part.arrival == Arrival::onward)
      part.arrival = arrival_;
    arrival_ = is_empty ? part.arrival : Arrival::onward;
    if (!is_empty)
      path_.add(part);
  }

 private:
  PathIndex& path_;
  Arrival arrival_ = Arrival::onward;
};

}  // namespace

bool is_shown_call(EventKind kind) {
  return kind != EventKind::run && kind != EventKind::enter && kind != EventKind::leave;
}

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
  stretched_ = useful < threads;
  auto on_axis = std::async(std::launch::async, [&] {
    return stretched_ ? stretched_ends() : LargeArray<std::int64_t>();
  });
  Weights weights = extended_critical_path(*schedule_, useful);
  const LargeArray<PartIndex> chain = heaviest_chain(*schedule_, weights);
  const LargeArray<std::int64_t> ends = on_axis.get();
  if (!ends.empty())
    total_ = Nanoseconds{ends[schedule_->by_end.back()]};
  last_part_ = schedule_->by_end.empty() ? no_part : schedule_->by_end.back();
  find_stopped();
  find_path_of_ideal(chain, ends);
  weights_ = PartWeights(weights.scaled, weights.cpus);
  weights.scaled = {};
  make_index(ends);
}

Execution::Execution(std::shared_ptr<const Recording> recording, simulation::SimulatedRun run,
                     std::uint32_t cpus)
    : recording_(std::move(recording)),
      run_(std::move(run)),
      machine_begin_(recording_->threads.size() + 1, 0),
      begin_(&machine_begin_),
      cpus_(cpus),
      total_(run_.end.total) {
  for (const Stretch& stretch : run_.stretches)
    ++machine_begin_[stretch.thread + 1];
  for (std::size_t t = 1; t < machine_begin_.size(); ++t)
    machine_begin_[t] += machine_begin_[t - 1];
  LargeArray<PartIndex> place(run_.stretches.size());
  std::vector<PartIndex> next(machine_begin_.begin(), machine_begin_.end() - 1);
  for (std::size_t i = 0; i < run_.stretches.size(); ++i)
    place[i] = next[run_.stretches[i].thread]++;
  last_part_ = run_.stretches.empty() ? no_part : place.back();
  find_path_of_machine(place);
  sort_by_threads(place);
  find_stopped();
  make_index({});
}

// On two CPUs, half of the stretches on each. They are the largest of all that a simulation leaves: memory
// for twice as many would be slow to get, so that what has been moved is given back at once, to be had again.
void Execution::sort_by_threads(const LargeArray<PartIndex>& place) {
  constexpr std::size_t some = std::size_t{1} << 18U;  // 10 MiB
  LargeArray<Stretch>& by_end = run_.stretches;
  LargeArray<Stretch> by_thread(by_end.size());
  simulation::use_small_pages(by_thread);
  const auto moved = [&](PartIndex index) { return index == no_stretch ? no_part : place[index]; };
  const auto move_from = [&](std::size_t begin, std::size_t end) {
    for (std::size_t first = begin; first < end; first += some) {
      const std::size_t behind = std::min(first + some, end);
      for (std::size_t i = first; i < behind; ++i) {
        Stretch& stretch = by_thread[place[i]];
        stretch = by_end[i];
        stretch.released_by = moved(stretch.released_by);
        stretch.given_by = moved(stretch.given_by);
      }
      simulation::give_back(by_end, begin, behind);
    }
  };
  const std::size_t half = by_end.size() / 2;
  auto behind = std::async(std::launch::async, move_from, half, by_end.size());
  move_from(0, half);
  behind.get();
  by_end = std::move(by_thread);
}

const std::optional<simulation::Deadlock>& Execution::deadlock() const {
  return schedule_ != nullptr ? schedule_->deadlock : run_.end.deadlock;
}

ExecutionPart Execution::simulated(PartIndex index) const {
  ExecutionPart part;
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
    part.running = stretch.running() && stretch.spins == 0;
    part.cut = stretch.cut != 0;
    return part;
  }
  const Segment& segment = schedule_->segments[index];
  part.start = part.ready = segment.start;
  part.end = segment.end;
  part.length = segment.end - segment.start;
  part.released_by = segment.released_by;
  part.event = segment.event;
  part.thread = segment.thread.value;
  part.running = segment.running;
  part.cut = segment.cut;
  return part;
}

ExecutionPart Execution::part(PartIndex index) const {
  ExecutionPart part = simulated(index);
  if (!stretched_)
    return part;
  SpanIndex::Reader reader(index_, part.thread, index_.block_of(part.thread, index));
  while (reader.next()) {
    if (reader.part != index || !reader.ends_part)
      continue;
    part.ready = part.start = Nanoseconds{reader.start};
    part.end = Nanoseconds{reader.end};
    break;
  }
  return part;
}

Nanoseconds Execution::end_of(PartIndex index) const {
  return part(index).end;
}

SpanState Execution::state_of(const ExecutionPart& part) const {
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

Span Execution::span(std::uint32_t thread, const SpanIndex::Reader& reader) const {
  Span span;
  span.start = Nanoseconds{reader.start};
  span.end = Nanoseconds{reader.end};
  span.state = reader.state;
  span.part = reader.part;
  span.is_of_part = reader.ends_part;
  span.event = event_of(thread, span);
  return span;
}

bool Execution::makes_call(PartIndex index) const {
  const ExecutionPart now = simulated(index);
  if (!now.running || now.cut)
    return false;
  // Who finds a lock taken again after it was free comes to the same call once more.
  while (index-- > begin(now.thread)) {
    const ExecutionPart before = simulated(index);
    if (before.event != now.event)
      return true;
    if (before.running && !before.cut)
      return false;
  }
  return true;
}

PartIndex Execution::part_of_call(std::uint32_t thread, std::uint32_t event) const {
  PartIndex low = begin(thread);
  PartIndex high = end(thread);
  // In order, but where a model lets the thread go on behind another of its waits.
  while (low < high) {
    const PartIndex middle = low + (high - low) / 2;
    if (event_number(middle) < event)
      low = middle + 1;
    else
      high = middle;
  }
  for (PartIndex index = low; index < end(thread) && event_number(index) == event; ++index) {
    if (makes_call(index))
      return index;
  }
  for (PartIndex index = begin(thread); index < end(thread); ++index) {
    if (event_number(index) == event && makes_call(index))
      return index;
  }
  return no_part;
}

PartIndex Execution::first_after(std::uint32_t thread, Nanoseconds time) const {
  SpanIndex::Reader reader(index_, thread, index_.block_at(thread, time.count()));
  while (reader.next()) {
    if (reader.ends_part && reader.end > time.count())
      return reader.part;
  }
  return end(thread);
}

// P · time on the stretched axis is a whole number; the axis has its whole nanoseconds.
LargeArray<std::int64_t> Execution::stretched_ends() const {
  LargeArray<std::int64_t> ends(schedule_->segments.size());
  TimesCpus scaled = 0;
  std::int64_t before = 0;
  std::uint32_t running = schedule_->running_at_start;
  for (const SegmentIndex index : schedule_->by_end) {
    const Segment& segment = schedule_->segments[index];
    const std::int64_t end = segment.end.count();
    if (end != before) {
      scaled += TimesCpus{end - before} * std::max(running, cpus_);
      before = end;
    }
    running = segment.running_after;
    ends[index] = static_cast<std::int64_t>(scaled / cpus_);
  }
  return ends;
}

void Execution::find_path_of_ideal(const LargeArray<PartIndex>& chain,
                                   const LargeArray<std::int64_t>& ends) {
  PathOfParts path(path_);
  const auto moved = [&](Nanoseconds time, SegmentIndex ending) {
    return ends.empty() || ending == no_segment ? time : Nanoseconds{ends[ending]};
  };
  for (const PartIndex index : chain) {
    const Segment& segment = schedule_->segments[index];
    const SegmentIndex before = segment.released_by;
    const bool woken = before != no_segment && schedule_->segments[before].thread != segment.thread;
    path.add({segment.thread.value, moved(segment.start, before), moved(segment.end, index),
              woken ? Arrival::released : Arrival::onward},
             segment.start == segment.end);
  }
  path_.end();
}

// While the stretches are in the order of their ends: what a stretch hangs on is near it. A thread that
// waited for a CPU hangs on the one that gave it up.
void Execution::find_path_of_machine(const LargeArray<PartIndex>& place) {
  const auto before = [](const Stretch& stretch) {
    const bool waited = stretch.start > stretch.ready && stretch.given_by != no_stretch;
    return waited ? stretch.given_by : stretch.released_by;
  };
  weights_ = PartWeights(run_.stretches.size());
  LargeArray<StretchIndex> chain;
  if (!run_.stretches.empty()) {
    for (auto index = static_cast<StretchIndex>(run_.stretches.size() - 1); index != no_stretch;
         index = before(run_.stretches[index])) {
      weights_.put_on_path(place[index]);
      chain.push_back(index);
    }
  }
  PathOfParts path(path_);
  std::reverse(chain.begin(), chain.end());
  for (const StretchIndex index : chain) {
    const Stretch& stretch = run_.stretches[index];
    const StretchIndex from = before(stretch);
    Arrival arrival = Arrival::onward;
    if (from != no_stretch && run_.stretches[from].thread != stretch.thread)
      arrival = from == stretch.given_by && stretch.start > stretch.ready ? Arrival::given
                                                                          : Arrival::released;
    path.add({stretch.thread, stretch.start, stretch.end, arrival}, stretch.start == stretch.end);
  }
  path_.end();
}

void Execution::find_stopped() {
  stands_still_.resize(thread_count(), false);
  if (const auto& standstill = deadlock()) {
    for (const simulation::Blocked& blocked : standstill->threads)
      stands_still_[blocked.thread.index()] = true;
  }
  for (std::uint32_t t = 0; t < thread_count(); ++t) {
    if (begin(t) != end(t) && event(simulated(end(t) - 1)).outcome == Outcome::unfinished)
      stands_still_[t] = true;
  }
}

// On two CPUs, half of the parts on each.
void Execution::make_index(const LargeArray<std::int64_t>& ends) {
  const auto threads = static_cast<std::uint32_t>(thread_count());
  const PartIndex parts = begin_->back();
  calls_ = LargeArray<std::uint8_t>(parts, 0);
  shown_kinds_.assign(threads, 0);
  const auto half = static_cast<std::uint32_t>(
      std::lower_bound(begin_->begin(), begin_->end() - 1, parts / 2) - begin_->begin());
  auto behind = std::async(std::launch::async, [&] { return spans_of(half, threads, ends); });
  index_ = spans_of(0, half, ends);
  index_.append(behind.get());
}

SpanIndex Execution::spans_of(std::uint32_t first_thread, std::uint32_t behind,
                              const LargeArray<std::int64_t>& ends) {
  const PartIndex first_part = begin(first_thread);
  // Room for those behind, too, which are appended.
  SpanIndex::Builder builder(first_part, begin_->back() - first_part, weights_.scale());
  for (std::uint32_t t = first_thread; t < behind; ++t) {
    ExecutionPart before;
    Nanoseconds ideal_end{};
    std::uint32_t made = unknown_count;
    for (PartIndex index = begin(t); index < end(t); ++index) {
      const ExecutionPart ideal = simulated(index);
      ExecutionPart part = ideal;
      if (!ends.empty()) {
        part.end = Nanoseconds{ends[index]};
        if (index != begin(t) && ideal.start == ideal_end)
          part.ready = before.end;
        else if (part.released_by != no_part)
          part.ready = Nanoseconds{ends[part.released_by]};
        part.start = part.ready;
      }
      ideal_end = ideal.end;
      if (index == begin(t))
        builder.begin_thread(part.ready.count());
      builder.add(part.ready.count(), part.start.count(), part.end.count(), state_of(part),
                  weights_.scaled(index), part.length.count(), event(part).profile.value + 1,
                  subject_keys_.of(event(part)));
      const EventKind kind = event(part).kind;
      if (part.running && !part.cut && made != part.event) {
        made = part.event;
        if (is_shown_call(kind)) {
          calls_[index] = static_cast<std::uint8_t>(kind) + 1;
          shown_kinds_[t] |= std::uint64_t{1} << static_cast<unsigned>(kind);
        }
      }
      before = part;
    }
    if (begin(t) != end(t) && stands_still(t))
      builder.end_thread_blocked_until(total_.count());
    else
      builder.end_thread();
  }
  return builder.take();
}

std::size_t Execution::bytes() const {
  return index_.bytes() + calls_.size() + shown_kinds_.size() * 8 + weights_.bytes() +
         path_.bytes();
}

}  // namespace longpole::analysis
