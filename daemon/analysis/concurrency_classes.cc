#include "analysis/concurrency_classes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "simulation/simulate.h"

namespace longpole::analysis {

using simulation::ConcurrencyStep;
using simulation::no_segment;
using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;
using simulation::TimesCpus;

namespace {

// simulation::concurrency() of a schedule in which segments may start later than what released them
// ended: they run only from then on.
std::vector<ConcurrencyStep> concurrency_with_overhead(const Schedule& schedule) {
  std::vector<Nanoseconds> late;
  for (const Segment& segment : schedule.segments) {
    if (segment.running && segment.released_by != no_segment &&
        schedule.segments[segment.released_by].end != segment.start)
      late.push_back(segment.start);
  }
  if (late.empty())
    return simulation::concurrency(schedule);
  std::sort(late.begin(), late.end());
  std::vector<ConcurrencyStep> steps{{Nanoseconds{}, schedule.running_at_start}};
  auto start = late.begin();
  for (const SegmentIndex index : schedule.by_end) {
    const Segment& segment = schedule.segments[index];
    for (; start != late.end() && *start < segment.end; ++start)
      steps.push_back({*start, steps.back().running + 1});
    while (start != late.end() && *start == segment.end)  // counted in what runs then
      ++start;
    steps.push_back({segment.end, segment.running_after});
  }
  return steps;
}

// From a moment on so many threads run, or could, and a nanosecond takes so long, times CPUs.
struct Level {
  Nanoseconds time{};
  std::uint32_t running = 0;
  std::uint32_t runnable = 0;
  TimesCpus need = 0;
};

std::vector<Level> levels_of(const Schedule& schedule, std::uint32_t cpus, Scheduler scheduler) {
  std::vector<Level> levels;
  for (const ConcurrencyStep& step : concurrency_with_overhead(schedule)) {
    const bool shares = scheduler == Scheduler::shared;
    const std::uint32_t running = shares ? std::min(step.running, cpus) : step.running;
    levels.push_back(
        {step.time, running, step.running - running, shares ? std::max(step.running, cpus) : cpus});
  }
  return levels;
}

std::vector<Level> levels_of(const Execution& run) {
  struct Change {
    Nanoseconds time{};
    std::int32_t running = 0;
    std::int32_t runnable = 0;
  };
  std::vector<Change> changes;
  for (std::uint32_t t = 0; t < run.thread_count(); ++t) {
    run.spans(t, Nanoseconds{-1}, [&](const Span& span) {
      const int runs = span.state == SpanState::running ? 1 : 0;
      const int could = span.state == SpanState::runnable ? 1 : 0;
      if (runs + could > 0) {
        changes.push_back({span.start, runs, could});
        changes.push_back({span.end, -runs, -could});
      }
      return true;
    });
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.time < b.time; });
  std::vector<Level> levels{{{}, 0, 0, run.cpus()}};
  for (const Change& change : changes) {
    if (levels.back().time != change.time)
      levels.push_back(levels.back());
    Level& level = levels.back();
    level.time = change.time;
    level.running += static_cast<std::uint32_t>(change.running);
    level.runnable += static_cast<std::uint32_t>(change.runnable);
  }
  return levels;
}

class Report {
 public:
  Report(ClassifiedPath path, std::vector<Level> levels, std::uint32_t cpus)
      : path_(std::move(path)), steps_(std::move(levels)), cpus_(cpus) {}

  ConcurrencyReport make() {
    cross();
    fill_levels();
    add_up_impact();
    return std::move(report_);
  }

 private:
  [[nodiscard]] double nanoseconds(TimesCpus time) const {
    return static_cast<double>(time) / cpus_;
  }

  void cross() {
    impact_of_passage_.resize(path_.passages.size(), 0);
    std::size_t step = 0;
    for (const PathStretch& stretch : path_.stretches) {
      for (Nanoseconds at = stretch.start; at < stretch.end;) {
        while (step + 1 < steps_.size() && steps_[step + 1].time <= at)
          ++step;
        const Nanoseconds until =
            step + 1 < steps_.size() ? std::min(stretch.end, steps_[step + 1].time) : stretch.end;
        const Level& level = steps_[step];
        const TimesCpus time = level.need * (until - at).count();
        by_level_[{level.running + level.runnable, level.running}]
                 [static_cast<std::size_t>(stretch.kind)] += time;
        if (stretch.passage != no_passage)
          impact_of_passage_[stretch.passage] += time;
        at = until;
      }
    }
  }

  void fill_levels() {
    std::array<std::array<TimesCpus, path_class_count>, concurrency_class_count> crossed{};
    TimesCpus total = 0;
    for (const auto& [threads, times] : by_level_) {
      const auto [active, running] = threads;
      const TimesCpus all = std::accumulate(times.begin(), times.end(), TimesCpus{0});
      if (all == 0)
        continue;
      total += all;
      ConcurrencyLevel level;
      level.running = running;
      level.runnable = active - running;
      level.time_ns = nanoseconds(all);
      const auto of_class = static_cast<std::size_t>(concurrency_class(active, cpus_));
      for (std::size_t kind = 0; kind < path_class_count; ++kind) {
        level.path_ns[kind] = nanoseconds(times[kind]);
        crossed[of_class][kind] += times[kind];
      }
      report_.levels.push_back(level);
    }
    report_.cpus = cpus_;
    report_.total_ns = nanoseconds(total);
    for (std::size_t c = 0; c < crossed.size(); ++c)
      std::transform(crossed[c].begin(), crossed[c].end(), report_.crossed[c].begin(),
                     [&](TimesCpus time) { return nanoseconds(time); });
  }

  struct Impact {
    TimesCpus time = 0;
    std::uint64_t times = 0;
  };

  void add_up_impact() {
    std::map<std::tuple<ObjectId, StackId, StackId>, Impact> by_place;
    std::map<std::pair<ThreadId, ThreadId>, Impact> by_threads;
    for (std::size_t p = 0; p < path_.passages.size(); ++p) {
      if (impact_of_passage_[p] == 0)
        continue;
      const PathPassage& passage = path_.passages[p];
      for (Impact* impact : {&by_place[{passage.object, passage.waited_at, passage.released_at}],
                             &by_threads[{passage.from, passage.to}]}) {
        impact->time += impact_of_passage_[p];
        ++impact->times;
      }
    }
    // The places of one object follow each other.
    TimesCpus most = 0;
    TimesCpus sum = 0;
    for (const auto& [place, impact] : by_place) {
      const auto& [object, waited_at, released_at] = place;
      if (report_.objects.empty() || report_.objects.back().object != object) {
        report_.objects.push_back({.object = object, .waited_at = {}, .released_at = {}});
        most = sum = 0;
      }
      ObjectImpact& row = report_.objects.back();
      row.times += impact.times;
      sum += impact.time;
      row.impact_ns = nanoseconds(sum);
      if (impact.time > most) {
        most = impact.time;
        row.waited_at = waited_at;
        row.released_at = released_at;
      }
    }
    for (const auto& [threads, impact] : by_threads)
      report_.threads.push_back(
          {threads.first, threads.second, impact.times, nanoseconds(impact.time)});
    const auto heavier = [](const auto& a, const auto& b) { return a.impact_ns > b.impact_ns; };
    std::stable_sort(report_.objects.begin(), report_.objects.end(), heavier);
    std::stable_sort(report_.threads.begin(), report_.threads.end(), heavier);
  }

  ClassifiedPath path_;
  std::vector<Level> steps_;
  std::uint32_t cpus_;
  // By the threads that run or could, and those that run.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<TimesCpus, path_class_count>>
      by_level_;
  std::vector<TimesCpus> impact_of_passage_;
  ConcurrencyReport report_;
};

}  // namespace

ConcurrencyClass concurrency_class(std::uint32_t active, std::uint32_t cpus) {
  if (active == 0)
    return ConcurrencyClass::idle;
  if (active == 1)
    return ConcurrencyClass::serial;
  if (active == cpus)
    return ConcurrencyClass::parallel;
  return active < cpus ? ConcurrencyClass::undersubscribed : ConcurrencyClass::oversubscribed;
}

std::array<double, concurrency_class_count> ConcurrencyReport::classes() const {
  std::array<double, concurrency_class_count> sums{};
  for (std::size_t c = 0; c < sums.size(); ++c)
    sums[c] = std::accumulate(crossed[c].begin(), crossed[c].end(), 0.0);
  return sums;
}

PathTimes ConcurrencyReport::critical_path() const {
  PathTimes sums{};
  for (const PathTimes& of_class : crossed) {
    for (std::size_t kind = 0; kind < sums.size(); ++kind)
      sums[kind] += of_class[kind];
  }
  return sums;
}

ConcurrencyReport classify_concurrency(const Recording& recording, const Schedule& schedule,
                                       std::uint32_t cpus, Scheduler scheduler) {
  return Report(classify_path(recording, schedule), levels_of(schedule, cpus, scheduler), cpus)
      .make();
}

ConcurrencyReport classify_concurrency(const Execution& run) {
  return Report(classify_path(run), levels_of(run), run.cpus()).make();
}

}  // namespace longpole::analysis
