#include "recording/wakers.h"

#include <algorithm>
#include <queue>
#include <set>
#include <utility>

namespace longpole::recording {
namespace {

// One call on an object: when it takes effect for the others.
struct Use {
  std::int64_t time = 0;
  std::uint32_t thread = 0;
  std::uint32_t event = 0;

  friend auto operator<=>(const Use&, const Use&) = default;
};

class WakerFinder {
 public:
  WakerFinder(std::vector<MergedThread>& threads, ObjectTable& objects)
      : threads_(threads), objects_(objects) {}

  void run();

 private:
  Event& event(const Use& use) { return threads_[use.thread].events[use.event]; }
  void set_waker(const Use& woken, std::uint32_t waker) {
    if (woken.thread != waker)
      event(woken).waker = ThreadId{waker};
  }

  void find_interesting();
  void collect();
  void pair_lock(const std::vector<Use>& uses);
  void pair_rwlock(const std::vector<Use>& uses);
  void pair_semaphore(ObjectId id, const std::vector<Use>& uses);
  void pair_condition(const std::vector<Use>& uses);
  void pair_barrier(std::vector<Use> uses);

  std::vector<MergedThread>& threads_;
  ObjectTable& objects_;
  std::vector<bool> interesting_;       // by object
  std::vector<std::vector<Use>> uses_;  // by object
};

bool waited(const Event& event) {
  return event.duration.count() > 0;
}

bool took_it(const Event& event) {
  return event.outcome == Outcome::ok;
}

bool is_signal(const Event& event) {
  return event.kind == EventKind::condition_signal || event.kind == EventKind::condition_broadcast;
}

// Nobody has to look at the millions of uses of a lock that nobody ever waited for.
void WakerFinder::find_interesting() {
  interesting_.assign(objects_.objects().size(), false);
  for (const MergedThread& thread : threads_)
    for (const Event& e : thread.events) {
      if (e.subject == unknown_count)
        continue;
      switch (e.kind) {
        case EventKind::mutex_lock:
        case EventKind::mutex_timedlock:
        case EventKind::rwlock_read:
        case EventKind::rwlock_write:
          if (waited(e))
            interesting_[e.subject] = true;
          break;
        case EventKind::semaphore_wait:
        case EventKind::semaphore_timedwait:
        case EventKind::semaphore_trywait:
        case EventKind::condition_signal:
        case EventKind::condition_broadcast:
        case EventKind::barrier_wait:
          interesting_[e.subject] = true;
          break;
        default:
          break;
      }
    }
}

void WakerFinder::collect() {
  uses_.resize(objects_.objects().size());
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    std::vector<Event>& events = threads_[t].events;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      Event& e = events[i];
      if (e.kind == EventKind::thread_join && waited(e) && took_it(e) && e.subject != t)
        e.waker = e.thread();
      const bool on_condition =
          e.kind == EventKind::condition_wait || e.kind == EventKind::condition_timedwait;
      if (on_condition && e.other != unknown_count && interesting_[e.other])
        uses_[e.other].push_back({e.time.count(), t, i});  // it lets go of the mutex
      const bool on_object =
          on_condition || is_signal(e) || e.kind == EventKind::mutex_lock ||
          e.kind == EventKind::mutex_timedlock || e.kind == EventKind::mutex_unlock ||
          e.kind == EventKind::rwlock_read || e.kind == EventKind::rwlock_write ||
          e.kind == EventKind::rwlock_unlock || e.kind == EventKind::semaphore_wait ||
          e.kind == EventKind::semaphore_timedwait || e.kind == EventKind::semaphore_trywait ||
          e.kind == EventKind::semaphore_post || e.kind == EventKind::barrier_wait;
      if (!on_object || e.subject == unknown_count || !interesting_[e.subject])
        continue;
      // Acquiring takes effect on return; a barrier and a condition want to know the beginning.
      const bool at_return =
          e.kind == EventKind::mutex_lock || e.kind == EventKind::mutex_timedlock ||
          e.kind == EventKind::rwlock_read || e.kind == EventKind::rwlock_write ||
          e.kind == EventKind::semaphore_wait || e.kind == EventKind::semaphore_timedwait;
      uses_[e.subject].push_back(
          {(e.time + (at_return ? e.duration : Nanoseconds{})).count(), t, i});
    }
  }
}

void WakerFinder::pair_lock(const std::vector<Use>& uses) {
  std::uint32_t last_release = unknown_count;
  for (const Use& use : uses) {
    const Event& e = event(use);
    const bool acquires = e.kind == EventKind::mutex_lock || e.kind == EventKind::mutex_timedlock;
    if (!acquires)
      last_release = use.thread;
    else if (waited(e) && took_it(e) && last_release != unknown_count)
      set_waker(use, last_release);
  }
}

// A writer is released by the last to let go; so are readers, when a writer had it. Those that queued
// behind a waiting writer have the same answer, as far as anybody can tell.
void WakerFinder::pair_rwlock(const std::vector<Use>& uses) {
  std::uint32_t last_release = unknown_count;
  for (const Use& use : uses) {
    const Event& e = event(use);
    if (!took_it(e))
      continue;
    if (e.kind == EventKind::rwlock_unlock)
      last_release = use.thread;
    else if (waited(e) && last_release != unknown_count)
      set_waker(use, last_release);
  }
}

void WakerFinder::pair_semaphore(ObjectId id, const std::vector<Use>& uses) {
  std::queue<std::uint32_t> posts;  // not taken yet, by thread
  std::int64_t free = objects_.initialized_with(id).value_or(0);
  std::int64_t missing = 0;
  for (const Use& use : uses) {
    const Event& e = event(use);
    if (!took_it(e))
      continue;
    if (e.kind == EventKind::semaphore_post) {
      posts.push(use.thread);
    } else if (free > 0) {
      --free;
    } else if (posts.empty()) {
      ++missing;
    } else {
      if (waited(e))
        set_waker(use, posts.front());
      posts.pop();
    }
  }
  if (!objects_.initialized_with(id))
    objects_.set_initial(id, static_cast<std::uint32_t>(missing));
}

// Those that wait are kept by the time at which they returned: whoever returned first was woken
// first. A wait that never returned would come last and counts for nobody.
void WakerFinder::pair_condition(const std::vector<Use>& uses) {
  std::set<std::pair<std::int64_t, Use>> waiting;
  for (const Use& use : uses) {
    Event& e = event(use);
    if (!is_signal(e)) {
      if (took_it(e))
        waiting.insert({(e.time + e.duration).count(), use});
      continue;
    }
    // Waits that have returned by now were woken by nobody that we know.
    waiting.erase(waiting.begin(), waiting.lower_bound({use.time, Use{}}));
    const bool all = e.kind == EventKind::condition_broadcast;
    std::uint32_t woken = 0;
    while (!waiting.empty() && (all || woken == 0)) {
      set_waker(waiting.begin()->second, use.thread);
      waiting.erase(waiting.begin());
      ++woken;
    }
    e.other = woken;
  }
}

void WakerFinder::pair_barrier(std::vector<Use> uses) {
  if (uses.empty())
    return;
  std::uint32_t parties = event(uses.front()).other;
  if (parties == unknown_count) {
    std::set<std::uint32_t> users;
    for (const Use& use : uses)
      users.insert(use.thread);
    parties = static_cast<std::uint32_t>(users.size());
    for (const Use& use : uses)
      event(use).other = parties;
  }
  for (std::size_t first = 0; first + parties <= uses.size(); first += parties) {
    const Use last = uses[first + parties - 1];
    for (std::size_t i = first; i + 1 < first + parties; ++i)
      if (took_it(event(uses[i])))
        set_waker(uses[i], last.thread);
  }
}

void WakerFinder::run() {
  find_interesting();
  collect();
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    std::vector<Use>& uses = uses_[i];
    std::sort(uses.begin(), uses.end());
    switch (objects_.objects()[i].kind) {
      case ObjectKind::mutex:
        pair_lock(uses);
        break;
      case ObjectKind::rwlock:
        pair_rwlock(uses);
        break;
      case ObjectKind::semaphore:
        pair_semaphore(ObjectId{static_cast<std::uint32_t>(i)}, uses);
        break;
      case ObjectKind::condition:
        pair_condition(uses);
        break;
      case ObjectKind::barrier:
        pair_barrier(uses);
        break;
      default:
        break;
    }
    uses = {};
  }
}

}  // namespace

void find_wakers(std::vector<MergedThread>& threads, ObjectTable& objects) {
  WakerFinder(threads, objects).run();
}

}  // namespace longpole::recording
