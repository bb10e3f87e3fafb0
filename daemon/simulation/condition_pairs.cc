#include "simulation/condition_pairs.h"

#include <algorithm>
#include <unordered_map>

namespace longpole::simulation {
namespace {

// One that was made: the simulation counts the same ones.
bool is_notification(const Event& event) {
  return (event.kind == EventKind::condition_signal ||
          event.kind == EventKind::condition_broadcast) &&
         event.outcome != Outcome::failed && event.subject != unknown_count;
}

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
  std::uint32_t condition = unknown_count;
  bool woke = false;
};

ConditionPairs::ConditionPairs(const Recording& recording)
    : paired_(recording.objects.size(), false),
      waits_(recording.threads.size()),
      polls_(recording.threads.size()) {
  if (recording.run.source == Source::program)
    return;
  for (std::size_t i = 0; i < paired_.size(); ++i)
    paired_[i] = recording.objects[i].kind == ObjectKind::condition;
  if (std::none_of(paired_.begin(), paired_.end(), [](bool paired) { return paired; }))
    return;
  find_barriers(recording);
  pair(recording);
  pair_polls(recording);
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

void ConditionPairs::pair(const Recording& recording) {
  paired_ = with_known_wakers(recording);
  Notifications notifications(recording.threads.size());
  for (std::size_t t = 0; t < recording.threads.size(); ++t) {
    for (const Event& event : recording.threads[t].events) {
      if (is_notification(event))
        notifications[t].push_back({event.time, event.subject, event.other != 0});
    }
  }
  const auto notified = [&](std::uint32_t by, std::size_t index) {
    return Notified{ThreadId{by}, static_cast<std::uint32_t>(index) + 1};
  };
  // The first that its waker made after it came and that woke a thread; none: there is no such one.
  const auto by_its_waker = [&](const Event& wait) {
    const std::vector<Notification>& made = notifications[wait.waker.index()];
    const auto first =
        std::lower_bound(made.begin(), made.end(), wait.time,
                         [](const Notification& one, Nanoseconds time) { return one.time < time; });
    const auto found = std::find_if(first, made.end(), [&](const Notification& one) {
      return one.woke && one.condition == wait.subject;
    });
    return found == made.end()
               ? Notified{}
               : notified(wait.waker.value, static_cast<std::size_t>(found - made.begin()));
  };
  // The last that anybody else made while it waited; none: there was none.
  const auto made_meanwhile = [&](const Event& wait, std::size_t waiter) {
    Notified last;
    Nanoseconds time = wait.time;
    for (std::uint32_t t = 0; t < notifications.size(); ++t) {
      const std::vector<Notification>& made = notifications[t];
      const auto after =
          std::upper_bound(made.begin(), made.end(), wait.time + wait.duration,
                           [](Nanoseconds end, const Notification& one) { return end < one.time; });
      const auto found = std::find_if(std::make_reverse_iterator(after), made.rend(),
                                      [&](const Notification& one) {
                                        return one.time < time || one.condition == wait.subject;
                                      });
      if (t == waiter || found == made.rend() || found->time < time)
        continue;
      time = found->time;
      last = notified(t, static_cast<std::size_t>(made.rend() - found) - 1);
    }
    return last;
  };
  // Two passes: only once all waits were looked at is it known which conditions are paired.
  for (const bool known : {false, true}) {
    for (std::size_t t = 0; t < recording.threads.size(); ++t) {
      for (const Event& event : recording.threads[t].events) {
        if (!is_finished_wait(event) || !paired_[event.subject])
          continue;
        const bool has_waker = event.waker.index() < notifications.size();
        const Notified ends = has_waker ? by_its_waker(event)
                              : known   ? made_meanwhile(event, t)
                                        : Notified{};
        if (has_waker && !ends.by.known())
          paired_[event.subject] = false;
        else if (known)
          waits_[t].push_back(ends);
      }
    }
  }
}

// From the last event of each thread to its first, so that what ended a loop is known at its turns.
void ConditionPairs::pair_polls(const Recording& recording) {
  struct Made {
    Nanoseconds time{};
    Notified notified;
  };
  std::vector<std::vector<Made>> made(paired_.size());  // per condition, in order of time
  bool has_polls = false;
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    std::uint32_t count = 0;
    for (const Event& event : recording.threads[t].events) {
      has_polls |= is_poll(event);
      if (is_notification(event)) {
        ++count;
        if (paired_[event.subject])
          made[event.subject].push_back({event.time, {ThreadId{t}, count}});
      }
    }
  }
  if (!has_polls)
    return;
  for (std::vector<Made>& one : made)
    std::stable_sort(one.begin(), one.end(),
                     [](const Made& a, const Made& b) { return a.time < b.time; });
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
          const std::vector<Made>& all = made[event.subject];
          auto after =
              std::lower_bound(all.begin(), all.end(), event.time + event.duration,
                               [](const Made& one, Nanoseconds time) { return one.time < time; });
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
