#include "simulation/condition_pairs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace longpole::simulation {
namespace {

bool is_finished_wait(const Event& event) {
  return event.outcome == Outcome::ok &&
         (event.kind == EventKind::condition_wait || event.kind == EventKind::condition_timedwait);
}

bool is_poll(const Event& event) {
  return event.outcome == Outcome::timeout && event.kind == EventKind::condition_timedwait;
}

// How a condition was used, over all threads.
struct Use {
  std::uint32_t woken = unknown_count;  // threads that each broadcast woke
  std::uint32_t threads = 0;            // that used it
  std::uint32_t times = 0;              // that each of them did
  bool alike = true;                    // the above are the same for all
};

}  // namespace

struct ConditionPairs::Notification {
  Nanoseconds time{};
  Notified notified;
  std::uint32_t woken = 0;  // threads
};

struct ConditionPairs::Wait {
  Nanoseconds time{};
  Nanoseconds end{};
  std::uint32_t thread = 0;
  ThreadId waker;  // none: not known
  Notified ended_by;
};

ConditionPairs::ConditionPairs(const Recording& recording, const WaitFors* wait_fors)
    : wait_fors_(wait_fors),
      paired_(recording.objects.size(), false),
      waits_(recording.threads.size()),
      polls_(recording.threads.size()),
      passes_(recording.threads.size()) {
  if (recording.run.source == Source::program)
    return;
  for (std::uint32_t i = 0; i < paired_.size(); ++i)
    paired_[i] = recording.objects[i].kind == ObjectKind::condition &&
                 (wait_fors == nullptr ||
                  !wait_fors->governs({.subject = i, .kind = EventKind::condition_wait}));
  if (std::none_of(paired_.begin(), paired_.end(), [](bool paired) { return paired; }))
    return;
  find_barriers(recording);
  pair(recording);
  pair_polls(recording);
  passes_ = find_passes(recording, paired_,
                        [this](const Event& event) { return is_notification(event); });
}

const Pass* ConditionPairs::pass_at(std::uint32_t thread, std::uint32_t event) const {
  const auto found = std::ranges::lower_bound(passes_[thread], event, {}, &Pass::event);
  return found != passes_[thread].end() && found->event == event ? &*found : nullptr;
}

// One that was made: the simulation counts the same ones.
bool ConditionPairs::is_notification(const Event& event) const {
  return (event.kind == EventKind::condition_signal ||
          event.kind == EventKind::condition_broadcast) &&
         event.outcome != Outcome::failed && event.subject != unknown_count &&
         (wait_fors_ == nullptr || !wait_fors_->governs(event));
}

void ConditionPairs::find_barriers(const Recording& recording) {
  std::vector<Use> uses(paired_.size());
  std::vector<std::uint32_t> times(paired_.size(), 0);  // of one thread
  std::vector<std::uint32_t> used;
  for (const Thread& thread : recording.threads) {
    for (const Event& event : thread.events) {
      if (!is_notification(event) && !is_finished_wait(event))
        continue;
      if (times[event.subject]++ == 0)
        used.push_back(event.subject);
      if (!is_notification(event))
        continue;
      Use& use = uses[event.subject];
      if (use.woken == unknown_count)
        use.woken = event.other;
      use.alike &= event.kind == EventKind::condition_broadcast && event.other == use.woken;
    }
    for (const std::uint32_t condition : used) {
      Use& use = uses[condition];
      if (use.threads++ == 0)
        use.times = times[condition];
      use.alike &= times[condition] == use.times;
      times[condition] = 0;
    }
    used.clear();
  }
  for (std::size_t i = 0; i < paired_.size(); ++i) {
    const Use& use = uses[i];
    // Two threads and one broadcast are a message, not a barrier.
    const bool barrier = use.alike && use.woken > 0 && use.threads == use.woken + 1 &&
                         (use.threads > 2 || use.times > 1);
    paired_[i] = paired_[i] && !barrier;
  }
}

// Conditions of which it is known who ended most of their waits.
std::vector<bool> ConditionPairs::with_known_wakers(const Recording& recording) const {
  std::vector<std::int64_t> known(paired_.size(), 0);  // less the unknown ones
  for (const Thread& thread : recording.threads) {
    for (const Event& event : thread.events) {
      if (is_finished_wait(event))
        known[event.subject] += event.waker.index() < recording.threads.size() ? 1 : -1;
    }
  }
  std::vector<bool> out = paired_;
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = out[i] && known[i] >= 0;
  return out;
}

// The notifications of each condition, in order of time.
ConditionPairs::ByCondition<ConditionPairs::Notification> ConditionPairs::notifications(
    const Recording& recording) const {
  ByCondition<Notification> made(paired_.size());
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    std::uint32_t count = 0;
    for (const Event& event : recording.threads[t].events) {
      if (is_notification(event)) {
        ++count;
        // pthread_cond_signal(3): one, where it is not known.
        const bool is_one =
            event.other == unknown_count && event.kind == EventKind::condition_signal;
        if (paired_[event.subject])
          made[event.subject].push_back(
              {event.time, {ThreadId{t}, count}, is_one ? 1 : event.other});
      }
    }
  }
  for (std::vector<Notification>& one : made)
    std::stable_sort(one.begin(), one.end(),
                     [](const Notification& a, const Notification& b) { return a.time < b.time; });
  return made;
}

// A notification ended as many waits as threads were woken: of those that named its thread and were under way, the
// first to end. False: of a wait that names a thread that notified nobody since.
bool ConditionPairs::pair_named(std::vector<Wait>& waits, std::span<const Notification> made) {
  std::vector<Wait*> arrivals;
  for (Wait& wait : waits) {
    if (wait.waker.known())
      arrivals.push_back(&wait);
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Wait* a, const Wait* b) { return a->time < b->time; });
  // By whom they name, then by their end and their order of arrival.
  std::map<std::uint32_t, std::set<std::pair<Nanoseconds, std::size_t>>> waiting;
  std::size_t arrived = 0;
  for (const Notification& one : made) {
    for (; arrived < arrivals.size() && arrivals[arrived]->time <= one.time; ++arrived)
      waiting[arrivals[arrived]->waker.value].emplace(arrivals[arrived]->end, arrived);
    auto& for_it = waiting[one.notified.by.value];
    for_it.erase(for_it.begin(), for_it.lower_bound({one.time, 0}));
    for (std::uint32_t woken = 0; woken < one.woken && !for_it.empty(); ++woken) {
      arrivals[for_it.begin()->second]->ended_by = one.notified;
      for_it.erase(for_it.begin());
    }
  }
  // Where the times do not tell: the first since it came that woke anybody.
  std::map<std::uint32_t, std::vector<const Notification*>> by_thread;
  for (const Notification& one : made) {
    if (one.woken != 0)
      by_thread[one.notified.by.value].push_back(&one);
  }
  for (Wait* const wait : arrivals) {
    if (wait->ended_by.by.known())
      continue;
    const std::vector<const Notification*>& its = by_thread[wait->waker.value];
    const auto first = std::partition_point(
        its.begin(), its.end(), [&](const Notification* one) { return one->time < wait->time; });
    if (first == its.end())
      return false;
    wait->ended_by = (*first)->notified;
  }
  return true;
}

// The last that anybody else made while it waited.
void ConditionPairs::pair_unnamed(std::vector<Wait>& waits, std::span<const Notification> made) {
  for (Wait& wait : waits) {
    if (wait.waker.known())
      continue;
    auto after = std::partition_point(
        made.begin(), made.end(), [&](const Notification& one) { return one.time <= wait.end; });
    while (after != made.begin() && std::prev(after)->time >= wait.time &&
           std::prev(after)->notified.by.value == wait.thread)
      --after;
    if (after != made.begin() && std::prev(after)->time >= wait.time)
      wait.ended_by = std::prev(after)->notified;
  }
}

void ConditionPairs::pair(const Recording& recording) {
  paired_ = with_known_wakers(recording);
  ByCondition<Wait> waits(paired_.size());
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    for (const Event& event : recording.threads[t].events) {
      if (is_finished_wait(event) && paired_[event.subject])
        waits[event.subject].push_back(
            {event.time,
             event.time + event.duration,
             t,
             event.waker.index() < recording.threads.size() ? event.waker : ThreadId::none(),
             {}});
    }
  }
  const ByCondition<Notification> made = notifications(recording);
  for (std::size_t i = 0; i < paired_.size(); ++i) {
    paired_[i] = paired_[i] && pair_named(waits[i], made[i]);
    pair_unnamed(waits[i], made[i]);
  }
  std::vector<std::size_t> next(paired_.size(), 0);
  for (std::size_t t = 0; t < recording.threads.size(); ++t) {
    for (const Event& event : recording.threads[t].events) {
      if (is_finished_wait(event) && paired_[event.subject])
        waits_[t].push_back(waits[event.subject][next[event.subject]++].ended_by);
    }
  }
}

// From the last event of each thread to its first, so that what ended a loop is known at its turns.
void ConditionPairs::pair_polls(const Recording& recording) {
  const bool has_polls =
      std::any_of(recording.threads.begin(), recording.threads.end(), [](const Thread& thread) {
        return std::any_of(thread.events.begin(), thread.events.end(), is_poll);
      });
  if (!has_polls)
    return;
  const ByCondition<Notification> made = notifications(recording);
  std::unordered_map<std::uint32_t, Notified> next;  // by condition
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    const std::vector<Event>& events = recording.threads[t].events;
    std::size_t wait = waits_[t].size();
    next.clear();
    for (std::size_t i = events.size(); i-- > 0;) {
      const Event& event = events[i];
      if (is_finished_wait(event) && paired_[event.subject]) {
        next[event.subject] = waits_[t][--wait];
      } else if (is_poll(event) && paired_[event.subject]) {
        const auto [known, is_last] = next.try_emplace(event.subject);
        if (is_last) {
          const std::vector<Notification>& all = made[event.subject];
          auto after = std::partition_point(all.begin(), all.end(), [&](const Notification& one) {
            return one.time < event.time + event.duration;
          });
          while (after != all.end() && after->notified.by.value == t)
            ++after;
          if (after != all.end())
            known->second = after->notified;
        }
        polls_[t].push_back(known->second);
      }
    }
    std::reverse(polls_[t].begin(), polls_[t].end());
  }
}

}  // namespace longpole::simulation
