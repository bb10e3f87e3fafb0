#include "simulation/condition_passes.h"

#include <algorithm>
#include <utility>

namespace longpole::simulation {
namespace {

constexpr std::uint32_t none = 0xffffffffU;
constexpr std::size_t uses_to_a_stale_one = 10;

struct Change {
  // By then it was true what the notification tells of: where its thread has just left a mutex, when it left it.
  Nanoseconds time{};
  Notified notified;
};

// How a thread uses a mutex with which it waits for one condition.
struct Place {
  std::uint32_t condition = 0;
  std::uint32_t mutex = 0;
  std::uint32_t depth = 0;      // of its use now
  std::uint32_t lock = none;    // the event that took it, if a mutex_lock
  Nanoseconds taken{};          // when
  bool waited = false;          // since then
  std::size_t next_change = 0;  // the first since it had the mutex last
  std::size_t uses = 0;
  std::size_t stale = 0;  // without a wait and without a new notification
  std::vector<Pass> passes;
};

bool waits(const Event& event) {
  return (event.kind == EventKind::condition_wait ||
          event.kind == EventKind::condition_timedwait) &&
         (event.outcome == Outcome::ok || event.outcome == Outcome::timeout);
}

// `condition_of`, by mutex: `none` each, and left so.
std::vector<Place> places_of(const Thread& thread, const std::vector<bool>& paired,
                             std::vector<std::uint32_t>& condition_of) {
  constexpr std::uint32_t several = none - 1;
  std::vector<std::uint32_t> mutexes;
  for (const Event& event : thread.events) {
    if (!waits(event) || event.other >= condition_of.size())
      continue;
    std::uint32_t& condition = condition_of[event.other];
    if (condition == none) {
      condition = event.subject;
      mutexes.push_back(event.other);
    } else if (condition != event.subject) {
      condition = several;
    }
  }
  std::vector<Place> places;
  for (const std::uint32_t mutex : mutexes) {
    const std::uint32_t condition = std::exchange(condition_of[mutex], none);
    if (condition != several && paired[condition]) {
      Place& place = places.emplace_back();
      place.condition = condition;
      place.mutex = mutex;
    }
  }
  return places;
}

// By condition.
std::vector<std::vector<Change>> changes_of(const Recording& recording,
                                            const std::vector<bool>& paired,
                                            const std::function<bool(const Event&)>& counts) {
  std::vector<std::vector<Change>> changes(paired.size());
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    std::uint32_t count = 0;
    const Event* before = nullptr;
    for (const Event& event : recording.threads[t].events) {
      if ((event.kind == EventKind::condition_signal ||
           event.kind == EventKind::condition_broadcast) &&
          counts(event)) {
        ++count;
        if (paired[event.subject]) {
          const bool has_left = before != nullptr && before->kind == EventKind::mutex_unlock;
          changes[event.subject].push_back(
              {has_left ? before->time : event.time, {ThreadId{t}, count}});
        }
      }
      before = &event;
    }
  }
  for (std::vector<Change>& one : changes)
    std::ranges::stable_sort(one, {}, &Change::time);
  return changes;
}

// The thread has the mutex at that time: what was done before is nothing new to it.
void see(Place& place, Nanoseconds now, const std::vector<Change>& changes) {
  while (place.next_change < changes.size() && changes[place.next_change].time <= now)
    ++place.next_change;
}

// The thread leaves the mutex.
void close(Place& place, std::uint32_t thread, Nanoseconds now,
           const std::vector<Change>& changes) {
  ++place.uses;
  if (!place.waited) {
    const auto is_anothers = [&](const Change& change) {
      return change.notified.by.value != thread;
    };
    const auto since = changes.begin() + static_cast<std::ptrdiff_t>(place.next_change);
    const auto until =
        std::ranges::upper_bound(since, changes.end(), place.taken, {}, &Change::time);
    const auto found = std::find_if(since, until, is_anothers);
    if (found == until)
      ++place.stale;
    else if (place.lock != none)
      place.passes.push_back({place.lock, ObjectId{place.condition}, found->notified});
  }
  see(place, now, changes);
}

void follow(Place& place, std::uint32_t thread, std::uint32_t at, const Event& event,
            const std::vector<Change>& changes) {
  if (waits(event)) {
    place.waited = true;
    see(place, event.time + event.duration, changes);
  } else if (event.outcome != Outcome::ok) {
    return;
  } else if (event.kind == EventKind::mutex_unlock) {
    if (place.depth > 0 && --place.depth == 0)
      close(place, thread, event.time, changes);
  } else if (place.depth++ == 0) {
    place.lock = event.kind == EventKind::mutex_lock ? at : none;
    place.taken = event.time + event.duration;
    place.waited = false;
  }
}

// Or none: the event has to do with none.
std::uint32_t mutex_of(const Event& event) {
  switch (event.kind) {
    case EventKind::mutex_lock:
    case EventKind::mutex_trylock:
    case EventKind::mutex_timedlock:
    case EventKind::mutex_unlock:
      return event.subject;
    case EventKind::condition_wait:
    case EventKind::condition_timedwait:
      return waits(event) ? event.other : none;
    default:
      return none;
  }
}

}  // namespace

std::vector<std::vector<Pass>> find_passes(const Recording& recording,
                                           const std::vector<bool>& paired,
                                           const std::function<bool(const Event&)>& counts) {
  std::vector<std::vector<Pass>> passes(recording.threads.size());
  std::vector<std::vector<Change>> changes;
  std::vector<std::uint32_t> place_of(paired.size(), none);  // by mutex
  std::vector<std::uint32_t> condition_of(paired.size(), none);
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    const std::vector<Event>& events = recording.threads[t].events;
    std::vector<Place> places = places_of(recording.threads[t], paired, condition_of);
    if (places.empty())
      continue;
    if (changes.empty())
      changes = changes_of(recording, paired, counts);
    for (std::uint32_t i = 0; i < places.size(); ++i)
      place_of[places[i].mutex] = i;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const std::uint32_t mutex = mutex_of(events[i]);
      if (mutex >= place_of.size() || place_of[mutex] == none)
        continue;
      Place& place = places[place_of[mutex]];
      follow(place, t, i, events[i], changes[place.condition]);
    }
    for (const Place& place : places) {
      place_of[place.mutex] = none;
      if (place.stale * uses_to_a_stale_one <= place.uses)
        passes[t].insert(passes[t].end(), place.passes.begin(), place.passes.end());
    }
    std::ranges::sort(passes[t], {}, &Pass::event);
  }
  return passes;
}

}  // namespace longpole::simulation
