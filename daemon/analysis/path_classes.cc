#include "analysis/path_classes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "simulation/condition_pairs.h"
#include "trace/event_forms.h"

namespace longpole::analysis {

using simulation::no_segment;
using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;

namespace {

bool is_condition_wait(EventKind kind) {
  return kind == EventKind::condition_wait || kind == EventKind::condition_timedwait;
}

bool is_notification(EventKind kind) {
  return kind == EventKind::condition_signal || kind == EventKind::condition_broadcast;
}

bool takes_mutex(const Event& event, std::uint32_t mutex) {
  switch (event.kind) {
    case EventKind::mutex_lock:
    case EventKind::mutex_trylock:
    case EventKind::mutex_timedlock:
      return event.subject == mutex && event.outcome == Outcome::ok;
    case EventKind::condition_wait:
    case EventKind::condition_timedwait:
      return event.other == mutex;  // back from waiting, it has it again
    default:
      return false;
  }
}

// The mutex that the call gives up; none: it gives up none.
std::optional<std::uint32_t> mutex_left(const Event& event) {
  if (event.kind == EventKind::mutex_unlock)
    return event.subject;
  if (is_condition_wait(event.kind))
    return event.other;
  return std::nullopt;
}

class Classifier {
 public:
  // `machine`, where there is one, has what a schedule cannot say of its segments.
  Classifier(const Recording& recording, const Schedule& schedule,
             const Execution* machine = nullptr)
      : recording_(recording), schedule_(schedule), machine_(machine) {}

  ClassifiedPath run() {
    find_path();
    for (std::size_t i = 1; i < path_.size(); ++i) {
      if (came_to_wait(path_[i]) && segment(path_[i - 1]).thread != segment(path_[i]).thread &&
          !is_given_cpu(path_[i]))
        add_passage(path_[i - 1], path_[i]);
    }
    await_others();
    cut();
    return std::move(result_);
  }

 private:
  struct Passage {
    SegmentIndex from = 0;
    SegmentIndex to = 0;
    ObjectId others_at;    // where others, too, had to do their part; none: nobody had to
    Nanoseconds before{};  // when they all had
  };

  [[nodiscard]] const Segment& segment(SegmentIndex index) const {
    return schedule_.segments[index];
  }
  [[nodiscard]] const Event& event(SegmentIndex index) const {
    const Segment& of = segment(index);
    return recording_.threads[of.thread.index()].events[of.event];
  }
  [[nodiscard]] SegmentIndex first_of(ThreadId thread) const {
    return schedule_.thread_begin[thread.index()];
  }
  [[nodiscard]] SegmentIndex end_of(ThreadId thread) const {
    return schedule_.thread_begin[thread.index() + 1];
  }
  // It waited before, rather than that its thread began with it.
  [[nodiscard]] bool came_to_wait(SegmentIndex index) const {
    return index > first_of(segment(index).thread);
  }
  // It does not end in its event's call: its thread lost the CPU before, or the program ended.
  [[nodiscard]] bool is_cut(SegmentIndex index) const { return segment(index).cut; }
  [[nodiscard]] bool is_given_cpu(SegmentIndex index) const {
    return machine_ != nullptr && machine_->part(index).waited_for_cpu();
  }
  [[nodiscard]] const simulation::ConditionPairs& conditions() {
    if (!conditions_)
      conditions_.emplace(recording_);
    return *conditions_;
  }

  void find_path() {
    if (schedule_.by_end.empty())
      return;
    for (SegmentIndex at = schedule_.by_end.back(); at != no_segment; at = segment(at).released_by)
      path_.push_back(at);
    std::reverse(path_.begin(), path_.end());
  }

  void add_passage(SegmentIndex from, SegmentIndex to) {
    const Event& waited = event(to - 1);
    PathPassage passage{.from = segment(from).thread,
                        .to = segment(to).thread,
                        .object = ObjectId::none(),
                        .waited_at = waited.site,
                        .released_at = event(from).site,
                        .alone_since = segment(to - 1).end};
    Passage where{from, to, ObjectId::none(), segment(from).end};
    if (event_form(waited.kind).subject == SubjectForm::object && waited.subject != unknown_count)
      passage.object = waited.object();
    switch (waited.kind) {
      case EventKind::thread_join:
        passage.alone_since = std::max(passage.alone_since, others_ended(to));
        break;
      case EventKind::mutex_lock:
        if (const simulation::Pass* const pass =
                conditions().pass_at(passage.to.value, segment(to - 1).event);
            pass != nullptr && pass->found.by == passage.from)
          passage.object = pass->condition;
        break;
      case EventKind::barrier_wait:
      case EventKind::rwlock_read:
      case EventKind::rwlock_write:
      case EventKind::condition_broadcast:
        where.others_at = passage.object;
        break;
      case EventKind::condition_wait:
      case EventKind::condition_timedwait:
        after_condition(waited, where, passage);
        break;
      default:
        break;
    }
    passages_.push_back(where);
    result_.passages.push_back(passage);
  }

  // A loop of joins is one wait for all these threads, in whatever order it names them: none of them
  // is alone while another would hold the loop up, too.
  [[nodiscard]] Nanoseconds others_ended(SegmentIndex after) const {
    Nanoseconds ended{};
    Nanoseconds computed{};
    const SegmentIndex end = end_of(segment(after).thread);
    for (SegmentIndex at = after; at < end && segment(at).running; ++at) {
      computed += segment(at).end - segment(at).start;
      if (is_cut(at))
        continue;
      if (at + 1 < end && segment(at + 1).start != segment(at).end)
        break;
      const Event& call = event(at);
      if (call.kind == EventKind::run || call.kind == EventKind::enter ||
          call.kind == EventKind::leave)
        continue;
      if (call.kind != EventKind::thread_join || call.subject >= recording_.threads.size())
        break;
      const SegmentIndex others_end = end_of(call.thread());
      if (others_end > first_of(call.thread()))
        ended = std::max(ended, segment(others_end - 1).end - computed);
    }
    return ended;
  }

  // A wait for a condition ends when its mutex is free again, too. Whoever left the mutex then is
  // either the one that notified, and was waited for from the beginning, or kept the waiter from
  // its mutex only.
  void after_condition(const Event& waited, Passage& where, PathPassage& passage) {
    const Event& release = event(where.from);
    const bool notified = waited.outcome == Outcome::ok && waited.subject != unknown_count;
    const bool counted = notified && !conditions().paired(waited.subject);
    const auto wait_for_arrivals = [&](const Event& notification, Nanoseconds at) {
      if (!counted || notification.kind == EventKind::condition_signal)
        return;
      where.others_at = waited.object();
      where.before = at;
    };
    const bool is_arrival = is_condition_wait(release.kind) && release.subject == waited.subject;
    const std::optional<std::uint32_t> mutex = mutex_left(release);
    if (!mutex || *mutex != waited.other || (counted && is_arrival))
      return wait_for_arrivals(release, segment(where.from).end);
    for (SegmentIndex at = where.from; at-- > first_of(passage.from);) {
      const Event& earlier = event(at);
      if (is_cut(at))
        continue;
      if (notified && is_notification(earlier.kind) && earlier.subject == waited.subject)
        return wait_for_arrivals(earlier, segment(at).end);
      if (takes_mutex(earlier, *mutex)) {
        passage.alone_since = std::max(passage.alone_since, segment(at + 1).start);
        break;
      }
      if (mutex_left(earlier) == mutex)
        return;
    }
    passage.object = ObjectId{*mutex};
  }

  // A barrier lets go when all have arrived, a rwlock lets a writer in when all readers have left: the
  // path's thread was alone when the last of the others had.
  void await_others() {
    struct Part {
      Nanoseconds time;
      ThreadId thread;
      auto operator<=>(const Part&) const = default;
    };
    std::map<ObjectId, std::vector<Part>> parts;
    for (const Passage& passage : passages_) {
      if (passage.others_at.known())
        parts[passage.others_at];
    }
    if (parts.empty())
      return;
    for (SegmentIndex s = 0; s < schedule_.segments.size(); ++s) {
      const Event& call = event(s);
      if (call.kind != EventKind::rwlock_unlock && call.kind != EventKind::barrier_wait &&
          !is_condition_wait(call.kind))
        continue;
      if (is_cut(s))
        continue;
      if (const auto of = parts.find(call.object()); of != parts.end())
        of->second.push_back({segment(s).end, segment(s).thread});
    }
    for (auto& [object, of] : parts)
      std::sort(of.begin(), of.end());
    for (std::size_t p = 0; p < passages_.size(); ++p) {
      if (!passages_[p].others_at.known())
        continue;
      const std::vector<Part>& of = parts[passages_[p].others_at];
      Nanoseconds& since = result_.passages[p].alone_since;
      auto at =
          std::upper_bound(of.begin(), of.end(), passages_[p].before,
                           [](Nanoseconds before, const Part& part) { return before < part.time; });
      while (at != of.begin() && (at - 1)->time > since) {
        --at;
        if (at->thread != result_.passages[p].from)
          since = at->time;
      }
    }
  }

  void cut() {
    // From the last segment to the first: what comes next on the path is known then.
    std::size_t next = passages_.size();
    std::uint32_t delays = no_passage;
    for (std::size_t i = path_.size(); i-- > 0;) {
      const Segment& at = segment(path_[i]);
      if (!at.running) {
        add(at.start, at.end, at.thread, PathClass::blocking, no_passage);
      } else {
        const Nanoseconds alone =
            delays == no_passage
                ? at.end
                : std::clamp(result_.passages[delays].alone_since, at.start, at.end);
        add(alone, at.end, at.thread, PathClass::impact, delays);
        add(at.start, alone, at.thread, PathClass::cruise, no_passage);
      }
      if (i == 0)
        break;
      const Segment& before = segment(path_[i - 1]);
      add(before.end, at.start, at.thread, PathClass::overhead, no_passage);
      if (before.thread == at.thread)
        continue;
      delays = no_passage;
      if (next > 0 && passages_[next - 1].to == path_[i])
        delays = static_cast<std::uint32_t>(--next);
    }
    std::reverse(result_.stretches.begin(), result_.stretches.end());
  }

  void add(Nanoseconds start, Nanoseconds end, ThreadId thread, PathClass kind,
           std::uint32_t passage) {
    if (start == end)
      return;
    if (!result_.stretches.empty()) {
      PathStretch& after = result_.stretches.back();
      if (after.thread == thread && after.kind == kind && after.passage == passage) {
        after.start = start;
        return;
      }
    }
    result_.stretches.push_back({start, end, thread, kind, passage});
  }

  const Recording& recording_;
  const Schedule& schedule_;
  const Execution* machine_;
  std::vector<SegmentIndex> path_;  // in order of time
  std::vector<Passage> passages_;   // parallel to result_.passages
  std::optional<simulation::ConditionPairs> conditions_;
  ClassifiedPath result_;
};

}  // namespace

ClassifiedPath classify_path(const Recording& recording, const Schedule& schedule) {
  return Classifier(recording, schedule).run();
}

ClassifiedPath classify_path(const Execution& run) {
  Schedule schedule;
  for (std::uint32_t t = 0; t < run.thread_count(); ++t) {
    schedule.thread_begin.push_back(run.begin(t));
    for (PartIndex index = run.begin(t); index < run.end(t); ++index) {
      const ExecutionPart part = run.part(index);
      Segment segment;
      segment.start = part.start;
      segment.end = part.end;
      segment.released_by = part.hangs_on();
      segment.event = part.event;
      segment.thread = ThreadId{part.thread};
      segment.running = part.running;
      segment.cut = part.cut;
      schedule.segments.push_back(segment);
    }
  }
  schedule.thread_begin.push_back(static_cast<SegmentIndex>(schedule.segments.size()));
  if (run.last_part() != no_part)
    schedule.by_end.push_back(run.last_part());
  return Classifier(run.recording(), schedule, &run).run();
}

}  // namespace longpole::analysis
