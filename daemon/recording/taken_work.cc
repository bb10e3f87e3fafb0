#include "recording/taken_work.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace longpole::recording {
namespace {

// Next to nothing: to look at a queue is no piece of work.
constexpr Nanoseconds least_work{20'000};
// To a broadcast, so many signals at least.
constexpr std::uint64_t signals_to_a_broadcast = 10;

bool is_wait(const Event& event) {
  return event.kind == EventKind::condition_wait && event.outcome == Outcome::ok;
}

struct Wait {
  Nanoseconds began{};
  Nanoseconds ended{};
};

struct Condition {
  std::uint32_t mutex = 0;
  std::set<std::uint32_t> waiters;
  std::map<std::uint32_t, std::vector<Wait>> waits;           // by waker
  std::map<std::uint32_t, std::vector<Nanoseconds>> signals;  // likewise, in order of time
  std::uint64_t signal_count = 0;
  std::uint64_t broadcasts = 0;

  [[nodiscard]] bool wakes_one_of_several() const {
    return waiters.size() > 1 && broadcasts * signals_to_a_broadcast <= signal_count;
  }
};

struct Turn {
  Nanoseconds at{};
  Nanoseconds work{};
};

// From a thread's wake-up to its return from the wait.
struct Delay {
  Nanoseconds began{};
  Nanoseconds ended{};
};

using Conditions = std::map<std::uint32_t, Condition>;
using Turns = std::map<std::uint32_t, std::vector<Turn>>;    // by mutex
using Delays = std::map<std::uint32_t, std::vector<Delay>>;  // likewise

Conditions conditions_of(const MergedRun& run) {
  Conditions found;
  for (std::uint32_t t = 0; t < run.threads.size(); ++t)
    for (const Event& event : run.threads[t].events)
      if (is_wait(event)) {
        Condition& condition = found[event.subject];
        condition.mutex = event.other;
        condition.waiters.insert(t);
        condition.waits[event.waker.value].push_back({event.time, event.time + event.duration});
      }
  for (std::uint32_t t = 0; t < run.threads.size() && !found.empty(); ++t)
    for (const Event& event : run.threads[t].events) {
      if (event.kind != EventKind::condition_signal && event.kind != EventKind::condition_broadcast)
        continue;
      const auto condition = found.find(event.subject);
      if (condition == found.end())
        continue;
      if (event.kind == EventKind::condition_broadcast) {
        ++condition->second.broadcasts;
      } else {
        ++condition->second.signal_count;
        if (event.other != 0)
          condition->second.signals[t].push_back(event.time);
      }
    }
  std::erase_if(found, [](const auto& one) { return !one.second.wakes_one_of_several(); });
  return found;
}

// Of those that wait for a condition with the mutex.
Turns turns_of(const MergedRun& run, const Conditions& conditions) {
  std::map<std::uint32_t, std::set<std::uint32_t>> users;  // by mutex
  for (const auto& [object, condition] : conditions)
    users[condition.mutex].insert(condition.waiters.begin(), condition.waiters.end());
  Turns turns;
  for (std::uint32_t t = 0; t < run.threads.size(); ++t) {
    struct Open {
      Nanoseconds at{};
      Nanoseconds computed{};  // by the thread, before
    };
    std::map<std::uint32_t, Open> open;  // by mutex
    Nanoseconds computed{};
    const auto end = [&](std::uint32_t mutex) {
      const auto turn = open.find(mutex);
      if (turn == open.end())
        return;
      if (const Nanoseconds work = computed - turn->second.computed; work > least_work)
        turns[mutex].push_back({turn->second.at, work});
      open.erase(turn);
    };
    for (const Event& event : run.threads[t].events) {
      computed += event.cpu;
      const bool locks = event.kind == EventKind::mutex_lock && event.outcome == Outcome::ok;
      if (!locks && !is_wait(event))
        continue;
      const std::uint32_t mutex = locks ? event.subject : event.other;
      if (const auto use = users.find(mutex); use == users.end() || !use->second.contains(t))
        continue;
      end(mutex);
      open[mutex] = {event.time + event.duration, computed};
    }
    while (!open.empty())
      end(open.begin()->first);
  }
  return turns;
}

// Of the waits under way that name its thread a signal ends the one that ends first.
void add_delays(const Condition& condition, std::vector<Delay>& delays) {
  for (const auto& [waker, signals] : condition.signals) {
    const auto found = condition.waits.find(waker);
    if (found == condition.waits.end())
      continue;
    std::vector<Wait> waits = found->second;
    std::ranges::sort(waits, {}, &Wait::began);
    std::multiset<Nanoseconds> under_way;  // their ends
    auto next = waits.begin();
    for (const Nanoseconds woken : signals) {
      for (; next != waits.end() && next->began <= woken; ++next)
        under_way.insert(next->ended);
      under_way.erase(under_way.begin(), under_way.lower_bound(woken));
      if (under_way.empty())
        continue;
      delays.push_back({woken, *under_way.begin()});
      under_way.erase(under_way.begin());
    }
  }
}

// Turns that begin during one or several of the delays: those who are delayed take none.
TakenWork taken(std::vector<Turn> turns, std::vector<Delay> delays) {
  std::ranges::sort(turns, {}, &Turn::at);
  std::ranges::sort(delays, {}, &Delay::began);
  TakenWork sum;
  Nanoseconds until{};
  auto delay = delays.begin();
  for (const Turn& turn : turns) {
    for (; delay != delays.end() && delay->began < turn.at; ++delay)
      until = std::max(until, delay->ended);
    if (turn.at < until) {
      ++sum.turns;
      sum.cpu += turn.work;
    }
  }
  return sum;
}

}  // namespace

TakenWork work_taken_past_woken(const MergedRun& run) {
  const Conditions conditions = conditions_of(run);
  Delays delays;
  for (const auto& [object, condition] : conditions)
    add_delays(condition, delays[condition.mutex]);
  TakenWork most;
  if (delays.empty())
    return most;
  for (auto& [mutex, turns] : turns_of(run, conditions))
    most = std::ranges::max(most, taken(std::move(turns), std::move(delays[mutex])), {},
                            &TakenWork::cpu);
  return most;
}

}  // namespace longpole::recording
