#include "recording/lockstep_advice.h"

#include <algorithm>
#include <map>
#include <set>

namespace longpole::recording {
namespace {

// In a row, with next to nothing done in between: waiting for something, not using what is left of a slice.
constexpr std::uint64_t telling_row = 20;
constexpr Nanoseconds next_to_nothing{20'000};
// Of all of the program's, in rows or not.
constexpr std::uint64_t telling_yields = 1000;
constexpr std::uint64_t telling_part = 10;  // one event in so many

bool is_in_vain(const Event& event) {
  return event.kind == EventKind::yield || event.outcome == Outcome::busy;
}

// Yields and attempts in vain that belong to a row of them. Attempts at several objects in turn are one
// row, and so are what is done under a lock to see that there is nothing.
std::uint64_t spun(const MergedThread& thread) {
  std::uint64_t sum = 0;
  std::uint64_t row = 0;
  const auto end_row = [&] {
    sum += row >= telling_row ? row : 0;
    row = 0;
  };
  Nanoseconds since{};
  for (const Event& event : thread.events) {
    since += event.cpu;
    if (since > next_to_nothing)
      end_row();
    if (is_in_vain(event)) {
      ++row;
      since = {};
    }
  }
  end_row();
  return sum;
}

Nanoseconds cpu_time(const MergedThread& thread) {
  Nanoseconds sum{};
  for (const Event& event : thread.events)
    sum += event.cpu;
  return sum;
}

// Locks, semaphores and conditions that a thread uses, by which work may be handed out.
std::set<std::uint32_t> used_objects(const MergedThread& thread) {
  std::set<std::uint32_t> objects;
  for (const Event& event : thread.events)
    if (event.kind == EventKind::mutex_lock || event.kind == EventKind::mutex_trylock ||
        event.kind == EventKind::semaphore_wait)
      objects.insert(event.subject);
  return objects;
}

// Threads of one function that share a lock, the busiest of which has twice its share or more.
bool took_unequal_shares(const std::vector<const MergedThread*>& threads, Nanoseconds whole_run) {
  constexpr std::int64_t telling_share = 5;  // a part in so many of the run
  constexpr std::int64_t unequal = 2;
  if (threads.size() < 2)
    return false;
  Nanoseconds sum{};
  Nanoseconds most{};
  std::map<std::uint32_t, std::size_t> users;
  for (const MergedThread* thread : threads) {
    const Nanoseconds used = cpu_time(*thread);
    sum += used;
    most = std::max(most, used);
    for (const std::uint32_t object : used_objects(*thread))
      ++users[object];
  }
  const bool all_share_one = std::any_of(users.begin(), users.end(), [&](const auto& object) {
    return object.second == threads.size();
  });
  // Two of them: all of it, or nearly.
  const auto count = static_cast<std::int64_t>(threads.size());
  const bool is_unequal = count == 2 ? most * 10 > sum * 9 : most * count > sum * unequal;
  return all_share_one && is_unequal && sum * telling_share > whole_run;
}

}  // namespace

std::vector<Notice> lockstep_advice(const MergedRun& run) {
  std::vector<Notice> notices;
  std::uint64_t in_vain = 0;
  std::uint64_t in_rows = 0;
  std::uint64_t events = 0;
  Nanoseconds whole{};
  std::map<std::uint64_t, std::vector<const MergedThread*>> by_function;
  for (const MergedThread& thread : run.threads) {
    events += thread.events.size();
    in_vain += static_cast<std::uint64_t>(
        std::count_if(thread.events.begin(), thread.events.end(), is_in_vain));
    in_rows += spun(thread);
    whole += cpu_time(thread);
    if (thread.creator.known() && thread.start_function != 0)
      by_function[thread.start_function].push_back(&thread);
  }
  if (in_rows >= telling_row || (in_vain >= telling_yields && in_vain * telling_part >= events))
    notices.push_back({"spinning",
                       "Threads yield or try in vain again and again; on one CPU that takes "
                       "another course than on "
                       "several. Record with --lockstep N to have it as on N CPUs.",
                       in_vain});
  const auto unequal = std::count_if(
      by_function.begin(), by_function.end(),
      [&](const auto& function) { return took_unequal_shares(function.second, whole); });
  if (unequal != 0)
    notices.push_back({"work-handed-out",
                       "Threads that run the same function and share a lock got very unequal "
                       "shares of the work; if "
                       "they take it from each other, on one CPU whoever runs takes it all. Record "
                       "with --lockstep N to "
                       "have it as on N CPUs.",
                       static_cast<std::uint64_t>(unequal)});
  return notices;
}

}  // namespace longpole::recording
