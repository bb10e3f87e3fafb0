#include "recording/polls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "recording/event_edits.h"

namespace longpole::recording {
namespace {

constexpr std::size_t fewest_waits = 3;
constexpr int computing_part = 10;  // no more than one part in so many of what is waited
constexpr std::size_t rare_part = 4;
constexpr int telling_part = 10;

// Of one thread. What lies between the waits belongs to it.
struct Row {
  std::uint32_t thread = 0;
  std::vector<std::uint32_t> waits;  // whose time passed
  std::optional<std::uint32_t> got;  // the wait that ended it, and got what it waited for
  std::set<std::uint32_t> locks;     // under which the thread looked
  [[nodiscard]] std::uint32_t first() const { return waits.front(); }
  [[nodiscard]] std::uint32_t last() const { return got.value_or(waits.back()); }
};

// What ended a row. The thread posts behind that event, or before it where it is its end or the join.
struct Cause {
  std::uint32_t thread;
  std::uint32_t event;
  bool before;
};

struct Moment {
  Nanoseconds time;
  std::uint32_t thread;
  std::uint32_t event;
};

Nanoseconds end_of(const Event& event) {
  return event.time + event.duration;
}

bool is_lock(const Event& event) {
  return event.outcome == Outcome::ok &&
         (event.kind == EventKind::mutex_lock || event.kind == EventKind::rwlock_read ||
          event.kind == EventKind::rwlock_write);
}

// When the thread looked after that wait, for which it may first have waited for a CPU and a lock.
Nanoseconds looked_after(const MergedThread& thread, std::uint32_t wait) {
  const Nanoseconds over = end_of(thread.events[wait]);
  if (wait + 1 == thread.events.size())
    return over;
  const Event& next = thread.events[wait + 1];
  return is_lock(next) ? end_of(next) : std::max(over, next.time - next.cpu);
}

bool has_limit(const Event& event) {
  return event.kind == EventKind::condition_timedwait ||
         event.kind == EventKind::semaphore_timedwait;
}

bool passes_time(const Event& event) {
  return event.duration > Nanoseconds{} &&
         (event.kind == EventKind::sleep ? event.outcome == Outcome::ok
                                         : has_limit(event) && event.outcome == Outcome::timeout);
}

// Lets nobody go, or no further than it found them.
bool only_looks(const Event& event) {
  switch (event.kind) {
    case EventKind::mutex_lock:
    case EventKind::mutex_trylock:
    case EventKind::mutex_unlock:
    case EventKind::rwlock_read:
    case EventKind::rwlock_write:
    case EventKind::rwlock_unlock:
    case EventKind::yield:
    case EventKind::enter:
    case EventKind::leave:
      return event.outcome != Outcome::unfinished;
    case EventKind::semaphore_trywait:
      return event.outcome == Outcome::busy;
    default:
      return false;
  }
}

// What is locked and entered, and not yet unlocked and left.
class Balance {
 public:
  void add(const Event& event) {
    if (event.outcome != Outcome::ok)
      return;
    switch (event.kind) {
      case EventKind::mutex_lock:
      case EventKind::mutex_trylock:
      case EventKind::rwlock_read:
      case EventKind::rwlock_write:
        change({false, event.subject}, 1);
        return;
      case EventKind::mutex_unlock:
      case EventKind::rwlock_unlock:
        change({false, event.subject}, -1);
        return;
      case EventKind::enter:
        change({true, event.subject}, 1);
        return;
      case EventKind::leave:
        change({true, event.subject}, -1);
        return;
      default:
        return;
    }
  }
  [[nodiscard]] bool even() const { return held_.empty(); }
  [[nodiscard]] bool holds_no_lock_but(std::uint32_t lock) const {
    return std::ranges::all_of(
        held_, [&](const auto& one) { return one.first.first || one.first.second == lock; });
  }

 private:
  using Of = std::pair<bool, std::uint32_t>;  // a function, else a lock

  void change(Of of, int by) {
    int& held = held_[of];
    held += by;
    if (held == 0)
      held_.erase(of);
  }

  std::map<Of, int> held_;
};

class RowFinder {
 public:
  RowFinder(const MergedThread& thread, std::uint32_t number) : thread_(thread), number_(number) {}

  // The row that begins with that wait; fewer than are worth it, too.
  [[nodiscard]] Row from(std::uint32_t first) const {
    const Event& model = thread_.events[first];
    Row row{number_, {first}, std::nullopt, {}};
    if (model.kind == EventKind::condition_timedwait)
      row.locks.insert(model.other);
    std::set<std::uint32_t> locks;
    Balance balance;
    Nanoseconds waited = model.duration;
    Nanoseconds computed{};
    for (std::uint32_t i = first + 1; i < thread_.events.size(); ++i) {
      const Event& event = thread_.events[i];
      computed += event.cpu;
      const bool is_like = event.kind == model.kind && event.subject == model.subject &&
                           thread_.sites[i] == thread_.sites[first];
      if (is_like && balance.even() && computed * computing_part <= waited) {
        row.locks.merge(locks);
        if (!passes_time(event)) {
          if (has_limit(event) && event.outcome == Outcome::ok)
            row.got = i;
          return row;
        }
        row.waits.push_back(i);
        waited += event.duration;
      } else if (only_looks(event)) {
        balance.add(event);
        if (is_lock(event))
          locks.insert(event.subject);
      } else {
        return row;
      }
    }
    return row;
  }

 private:
  const MergedThread& thread_;
  std::uint32_t number_;
};

std::vector<Row> rows_of(const MergedThread& thread, std::uint32_t number) {
  std::vector<Row> rows;
  const RowFinder finder(thread, number);
  Balance balance;
  for (std::uint32_t i = 0; i < thread.events.size(); ++i) {
    const Event& event = thread.events[i];
    balance.add(event);
    const bool is_timed_condition = event.kind == EventKind::condition_timedwait;
    // Who held a lock all the while might now hold it while the others need it.
    if (!passes_time(event) ||
        !balance.holds_no_lock_but(is_timed_condition ? event.other : unknown_count))
      continue;
    Row row = finder.from(i);
    if (!row.got && row.waits.size() < fewest_waits)
      continue;
    i = row.last();
    rows.push_back(std::move(row));
  }
  return rows;
}

// What other threads did that a poller may have looked for.
class Deeds {
 public:
  Deeds(const MergedRun& run, const std::vector<Row>& rows) {
    std::size_t row = 0;
    for (std::uint32_t t = 0; t < run.threads.size(); ++t) {
      const std::vector<Event>& events = run.threads[t].events;
      for (std::uint32_t i = 0; i < events.size(); ++i) {
        while (row < rows.size() &&
               (rows[row].thread < t || (rows[row].thread == t && rows[row].last() < i)))
          ++row;
        if (row < rows.size() && rows[row].thread == t && rows[row].first() <= i)
          continue;
        add(events[i], {events[i].time, t, i});
      }
    }
    for (auto& [lock, moments] : unlocks_)
      std::ranges::stable_sort(moments, {}, &Moment::time);
    std::ranges::stable_sort(ends_, {}, &Moment::time);
  }

  [[nodiscard]] std::optional<Cause> cause_of(const Row& row, const MergedThread& thread) const {
    const std::uint32_t last = row.waits.back();
    if (const auto join = joins_.find(row.thread); join != joins_.end() && ends_soon(row, thread) &&
                                                   join->second.time > thread.events[last].time &&
                                                   join->second.time <= looked_after(thread, last))
      return Cause{join->second.thread, join->second.event, true};
    std::optional<Moment> latest;
    for (const std::uint32_t lock : row.locks) {
      const auto moments = unlocks_.find(lock);
      if (moments == unlocks_.end() || !is_rare(moments->second, row, thread))
        continue;
      const auto unlocked = last_within(moments->second, row, thread, last);
      if (unlocked && (!latest || unlocked->time > latest->time))
        latest = unlocked;
    }
    if (latest)
      return Cause{latest->thread, latest->event, false};
    if (const auto ended = last_within(ends_, row, thread, last))
      return Cause{ended->thread, ended->event, true};
    return std::nullopt;
  }

 private:
  void add(const Event& event, const Moment& moment) {
    switch (event.kind) {
      case EventKind::mutex_unlock:
      case EventKind::rwlock_unlock:
        unlocks_[event.subject].push_back(moment);
        return;
      case EventKind::thread_end:
        ends_.push_back(moment);
        return;
      case EventKind::thread_join:
        if (event.outcome == Outcome::ok && event.subject != unknown_count)
          joins_.try_emplace(event.subject, moment);
        return;
      default:
        return;
    }
  }

  // Nothing but looking lies between the row and the thread's end.
  static bool ends_soon(const Row& row, const MergedThread& thread) {
    for (std::uint32_t i = row.last() + 1; i < thread.events.size(); ++i) {
      if (thread.events[i].kind == EventKind::thread_end)
        return true;
      if (!only_looks(thread.events[i]))
        return false;
    }
    return false;
  }

  // Of another thread, after that wait of the row began and before the thread looked.
  static std::optional<Moment> last_within(const std::vector<Moment>& moments, const Row& row,
                                           const MergedThread& thread, std::uint32_t wait) {
    auto after = std::ranges::upper_bound(moments, looked_after(thread, wait), {}, &Moment::time);
    while (after != moments.begin() && std::prev(after)->time > thread.events[wait].time) {
      --after;
      if (after->thread != row.thread)
        return *after;
    }
    return std::nullopt;
  }

  static bool is_rare(const std::vector<Moment>& moments, const Row& row,
                      const MergedThread& thread) {
    std::size_t often = 0;
    for (std::size_t i = 0; i + 1 < row.waits.size(); ++i)
      often += last_within(moments, row, thread, row.waits[i]) ? 1U : 0U;
    return often * rare_part < row.waits.size();
  }

  std::map<std::uint32_t, std::vector<Moment>> unlocks_;
  std::vector<Moment> ends_;
  std::map<std::uint32_t, Moment> joins_;  // by the thread that is joined
};

EventEdit as_one_that_got_it(const Row& row, const MergedThread& thread) {
  Event wait = thread.events[*row.got];
  const Event& first = thread.events[row.first()];
  wait.duration = end_of(wait) - first.time;
  wait.time = first.time;
  wait.cpu = first.cpu;
  EventEdit edit{.first = row.first(), .behind = *row.got + 1};
  edit.add(wait, thread.sites[*row.got]);
  return edit;
}

EventEdit as_wait_for(const Cause& cause, Nanoseconds done, std::uint32_t semaphore, const Row& row,
                      const MergedThread& thread) {
  const std::uint32_t site = thread.sites[row.first()];
  const Event& first = thread.events[row.first()];
  Event rest = thread.events[row.waits.back()];
  Event wait = event_at(first.time, EventKind::semaphore_wait, semaphore);
  wait.duration = done - first.time;
  wait.waker = ThreadId{cause.thread};
  rest.duration = end_of(rest) - done;
  rest.time = done;
  rest.cpu = {};
  EventEdit edit{.first = row.first(), .behind = row.waits.back() + 1};
  if (rest.kind == EventKind::condition_timedwait)
    edit.add(event_at(first.time, EventKind::mutex_unlock, rest.other), site);
  edit.add(wait, site);
  if (rest.kind == EventKind::condition_timedwait)
    edit.add(event_at(done, EventKind::mutex_lock, rest.other), site);
  edit.add(rest, site);
  edit.events.front().cpu = first.cpu;
  return edit;
}

EventEdit post_by(const Cause& cause, std::uint32_t semaphore, MergedThread& thread) {
  Event& event = thread.events[cause.event];
  Event post = event_at(event.time, EventKind::semaphore_post, semaphore);
  if (cause.before)
    post.cpu = std::exchange(event.cpu, Nanoseconds{});
  const std::uint32_t at = cause.before ? cause.event : cause.event + 1;
  EventEdit edit{.first = at, .behind = at, .computes = cause.before};
  edit.add(post, thread.sites[cause.event]);
  return edit;
}

}  // namespace

Polls follow_polls(MergedRun& run) {
  Polls polls;
  std::vector<Row> rows;
  for (std::uint32_t t = 0; t < run.threads.size() && run.threads.size() > 1; ++t)
    for (Row& row : rows_of(run.threads[t], t))
      rows.push_back(std::move(row));
  if (rows.empty())
    return polls;
  const Deeds deeds(run, rows);
  std::vector<std::vector<EventEdit>> edits(run.threads.size());
  for (const Row& row : rows) {
    MergedThread& thread = run.threads[row.thread];
    if (row.got) {
      edits[row.thread].push_back(as_one_that_got_it(row, thread));
      continue;
    }
    if (const auto cause = deeds.cause_of(row, thread)) {
      const auto semaphore = static_cast<std::uint32_t>(run.objects.size());
      run.objects.push_back({.kind = ObjectKind::semaphore,
                             .first_site = thread.sites[row.first()],
                             .stands_for = StandsFor::polls,
                             .woken = ThreadId{row.thread},
                             .waker = ThreadId{cause->thread}});
      const Nanoseconds done = std::min(run.threads[cause->thread].events[cause->event].time,
                                        end_of(thread.events[row.last()]));
      edits[row.thread].push_back(as_wait_for(*cause, done, semaphore, row, thread));
      edits[cause->thread].push_back(post_by(*cause, semaphore, run.threads[cause->thread]));
    } else {
      const Nanoseconds length =
          end_of(thread.events[row.last()]) - thread.events[row.first()].time;
      if (length * telling_part >= run.run.elapsed)
        polls.unexplained_waits += row.waits.size();
      continue;
    }
    polls.waits += row.waits.size();
    ++polls.rows;
  }
  for (std::size_t t = 0; t < edits.size(); ++t)
    apply_edits(std::move(edits[t]), run.threads[t]);
  return polls;
}

}  // namespace longpole::recording
