#include "analysis/contention.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/call_tree.h"
#include "analysis/critical_path.h"
#include "analysis/critical_sections.h"
#include "analysis/what_if.h"
#include "simulation/condition_pairs.h"
#include "trace/event_forms.h"
#include "trace/event_kinds.h"

namespace longpole::analysis {

using simulation::no_segment;
using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;
using simulation::TimesCpus;

namespace {

class Collection {
 public:
  Collection(const Recording& recording, const Schedule& ideal, const Weights& weights)
      : recording_(recording),
        ideal_(ideal),
        weights_(weights),
        charged_(charged_frames(recording)),
        locks_(locks_of(recording)),
        conditions_(recording),
        found_(recording.objects.size()) {}

  std::vector<ObjectRow> rows() {
    for (std::size_t t = 0; t < recording_.threads.size(); ++t)
      follow(static_cast<std::uint32_t>(t));
    std::vector<ObjectRow> rows;
    for (std::uint32_t o = 0; o < found_.size(); ++o) {
      if (found_[o].row.acquisitions > 0)
        rows.push_back(finished(o));
    }
    return rows;
  }

 private:
  struct Change {
    Nanoseconds at;
    int by;
  };
  struct Found {
    ObjectRow row;
    std::vector<Change> queue;
    TimesCpus critical = 0;
    std::map<StackId, ObjectLine> by_place;
    std::map<std::pair<ThreadId, ThreadId>, Collision> by_threads;
  };
  struct Hold {
    std::uint32_t object;
    std::uint32_t depth;
    Nanoseconds since;
  };

  void follow(std::uint32_t thread) {
    holds_.clear();
    const std::vector<Event>& events = recording_.threads[thread].events;
    for (SegmentIndex s = ideal_.thread_begin[thread]; s < ideal_.thread_begin[thread + 1]; ++s) {
      const Segment& segment = ideal_.segments[s];
      const TimesCpus critical =
          TimesCpus{weights_.scaled[s]} * (segment.end - segment.start).count();
      for (const Hold& hold : holds_)
        found_[hold.object].critical += critical;
      const Event& event = events[segment.event];
      if (event.kind == EventKind::io && !segment.running && event.object().known())
        serve(event, segment, critical);
      if (segment.running && !segment.cut &&
          event_form(event.kind).subject == SubjectForm::object && event.object().known() &&
          (event.outcome == Outcome::ok || Holding::is_release(event)))
        call(event, segment, s + 1 < ideal_.thread_begin[thread + 1] ? s + 1 : no_segment);
    }
    for (const Hold& hold : holds_)
      end_hold(hold, ideal_.segments[ideal_.thread_begin[thread + 1] - 1].end);
  }

  void serve(const Event& event, const Segment& segment, TimesCpus critical) {
    Found& found = found_[event.subject];
    found.critical += critical;
    end_hold({event.subject, 1, segment.start}, segment.end);
  }

  // The call at the end of `segment`; the thread goes on with `next`, or not.
  void call(const Event& event, const Segment& segment, SegmentIndex next) {
    if (Holding::is_release(event))
      release(event.subject, segment.end);
    const bool may_wait = meets_others(event.kind) || event.kind == EventKind::io;
    if (!may_wait || next == no_segment)
      return;
    const Segment& after = ideal_.segments[next];
    if (const auto condition = condition_waited_for(segment, after)) {
      wait(condition->value, event, segment.end, after);
      wait(event.subject, event, after.start, after);
    } else {
      wait(event.subject, event, segment.end, after);
    }
    if (event.kind == EventKind::condition_wait || event.kind == EventKind::condition_timedwait)
      pause(event.other, segment.end, after.start);
    else if (locks_[event.subject])
      take(event.subject, after.start);
  }

  // Where a thread took a mutex, and waited for what it found done there in the recording.
  [[nodiscard]] std::optional<ObjectId> condition_waited_for(const Segment& segment,
                                                             const Segment& after) const {
    if (after.start == segment.end || after.released_by == no_segment)
      return std::nullopt;
    const simulation::Pass* const pass = conditions_.pass_at(segment.thread.value, segment.event);
    if (pass == nullptr || ideal_.segments[after.released_by].thread != pass->found.by)
      return std::nullopt;
    return pass->condition;
  }

  // For the object, in the event, from then until `after` starts.
  void wait(std::uint32_t object, const Event& event, Nanoseconds since, const Segment& after) {
    Found& found = found_[object];
    const Nanoseconds waited = after.start - since;
    ++found.row.acquisitions;
    const StackId place = event.site.known() ? charged_[event.site.index()] : StackId::none();
    ObjectLine& line = found.by_place[place];
    ++line.acquisitions;
    if (waited <= Nanoseconds{})
      return;
    ++found.row.contended;
    found.row.wait += waited;
    found.row.longest_wait = std::max(found.row.longest_wait, waited);
    line.wait += waited;
    found.queue.push_back({since, 1});
    found.queue.push_back({after.start, -1});
    if (after.released_by == no_segment)
      return;
    const ThreadId waker = ideal_.segments[after.released_by].thread;
    Collision& collision = found.by_threads[{waker, after.thread}];
    ++collision.times;
    collision.wait += waited;
  }

  void take(std::uint32_t object, Nanoseconds at) {
    for (Hold& hold : holds_) {
      if (hold.object == object) {
        ++hold.depth;
        return;
      }
    }
    holds_.push_back({object, 1, at});
  }
  void release(std::uint32_t object, Nanoseconds at) {
    for (std::size_t i = 0; i < holds_.size(); ++i) {
      if (holds_[i].object != object)
        continue;
      if (--holds_[i].depth == 0) {
        end_hold(holds_[i], at);
        holds_.erase(holds_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      return;
    }
  }
  // A wait for a condition gives the mutex back meanwhile.
  void pause(std::uint32_t mutex, Nanoseconds from, Nanoseconds to) {
    for (Hold& hold : holds_) {
      if (hold.object != mutex)
        continue;
      end_hold(hold, from);
      hold.since = to;
    }
  }
  void end_hold(const Hold& hold, Nanoseconds at) {
    ObjectRow& row = found_[hold.object].row;
    const Nanoseconds held = at - hold.since;
    row.hold = row.hold.value_or(Nanoseconds{}) + held;
    row.longest_hold = std::max(row.longest_hold, held);
  }

  ObjectRow finished(std::uint32_t object) {
    Found& found = found_[object];
    ObjectRow& row = found.row;
    row.object = ObjectId{object};
    if (row.hold)
      row.critical_ns = static_cast<double>(found.critical) / weights_.cpus;
    row.queue = queue_lengths(std::move(found.queue));
    row.lines = lines(found.by_place);
    for (const auto& [threads, collision] : found.by_threads)
      row.collisions.push_back({threads.first, threads.second, collision.times, collision.wait});
    std::stable_sort(row.collisions.begin(), row.collisions.end(),
                     [](const Collision& a, const Collision& b) { return a.wait > b.wait; });
    return std::move(row);
  }

  [[nodiscard]] std::vector<Nanoseconds> queue_lengths(std::vector<Change> changes) const {
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
      return std::tuple(a.at, a.by) < std::tuple(b.at, b.by);
    });
    std::vector<Nanoseconds> time(1);
    std::size_t length = 0;
    Nanoseconds at{};
    for (const Change& change : changes) {
      time.resize(std::max(time.size(), length + 1));
      time[length] += change.at - at;
      at = change.at;
      length = change.by > 0 ? length + 1 : length - 1;
    }
    time[0] += ideal_.total - at;
    return time;
  }

  [[nodiscard]] std::vector<ObjectLine> lines(const std::map<StackId, ObjectLine>& places) const {
    std::map<std::tuple<FileId, std::uint32_t, FunctionId>, ObjectLine> by_line;
    for (const auto& [place, found] : places) {
      ObjectLine line = found;
      if (place.known()) {
        const Stack& frame = recording_.stacks[place.index()];
        line.file = frame.file;
        line.line = frame.line;
        line.function = frame.function;
      }
      const auto [at, added] = by_line.try_emplace({line.file, line.line, line.function}, line);
      if (!added) {
        at->second.acquisitions += line.acquisitions;
        at->second.wait += line.wait;
      }
    }
    std::vector<ObjectLine> rows;
    for (const auto& [key, line] : by_line) {
      if (line.file.known() || line.function.known())
        rows.push_back(line);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const ObjectLine& a, const ObjectLine& b) {
      return std::tuple(a.wait, a.acquisitions) > std::tuple(b.wait, b.acquisitions);
    });
    return rows;
  }

  const Recording& recording_;
  const Schedule& ideal_;
  const Weights& weights_;
  std::vector<StackId> charged_;
  std::vector<bool> locks_;
  simulation::ConditionPairs conditions_;
  std::vector<Found> found_;  // by object
  std::vector<Hold> holds_;   // of the thread that is followed
};

void simulate_freed(const Recording& recording, ObjectTable& table, Scheduler scheduler) {
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const ObjectRow& a, const ObjectRow& b) { return a.wait > b.wait; });
  std::size_t simulated = 0;
  for (ObjectRow& row : table.rows) {
    if (row.wait == Nanoseconds{}) {
      row.freed_ns = table.total_ns;
    } else if (simulated++ < most_simulated) {
      const auto freed = WhatIf::of(recording, {{}, {}, {row.object}});
      if (!freed)
        continue;
      const Prediction prediction = freed->predict(table.cpus, scheduler);
      if (!prediction.deadlock)
        row.freed_ns = prediction.total_ns;
    }
  }
}

}  // namespace

ObjectTable contention(const Recording& recording, const Schedule& ideal, std::uint32_t cpus,
                       Scheduler scheduler) {
  const CompletionTimes times(ideal, recording.threads.size());
  ObjectTable table;
  table.cpus = cpus;
  table.total_ns = times.predict(cpus, scheduler).total_ns;
  const Weights weights = extended_critical_path(ideal, times.useful(cpus, scheduler));
  table.rows = Collection(recording, ideal, weights).rows();
  simulate_freed(recording, table, scheduler);
  const auto rank = [&](const ObjectRow& row) {
    return std::tuple(row.freed_ns.value_or(table.total_ns), -row.wait.count(),
                      std::string_view(recording.objects[row.object.index()].name));
  };
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [&](const ObjectRow& a, const ObjectRow& b) { return rank(a) < rank(b); });
  return table;
}

}  // namespace longpole::analysis
