#include "recording/lockstep_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "recording/taken_work.h"

namespace longpole::recording {
namespace {

constexpr std::string_view spinning = "spinning";
constexpr std::string_view work_handed_out = "work-handed-out";
constexpr std::string_view work_stolen = "work-stolen";

// In a row, with next to nothing done in between: waiting for something, not using what is left of a slice.
constexpr std::uint64_t telling_row = 20;
constexpr Nanoseconds next_to_nothing{20'000};
// Of the run, one part in so many with somebody in a row. OpenBLAS's threads, say, who look for work for a tenth
// of a second when they have been started, change little of a run of seconds.
constexpr std::int64_t telling_time = 10;
// Of all of the program's, but for those in rows.
constexpr std::uint64_t telling_yields = 1000;
constexpr std::uint64_t telling_part = 10;  // one event in so many
// Before a wait, as those for C++20's atomics begin: it takes the same course on any number of CPUs.
constexpr std::uint64_t most_before_a_wait = 16;

bool is_in_vain(const Event& event) {
  return event.kind == EventKind::yield || event.outcome == Outcome::busy;
}

bool waits(const Event& event) {
  return event.kind == EventKind::semaphore_wait || event.kind == EventKind::barrier_wait ||
         event.kind == EventKind::external_wait;
}

// By event: yields and attempts in vain, but for a few yields that a wait comes behind.
std::vector<bool> those_in_vain(const std::vector<Event>& events) {
  std::vector<bool> in_vain(events.size());
  std::size_t first = 0;  // of the yields up to here
  for (std::size_t i = 0; i < events.size(); ++i) {
    in_vain[i] = is_in_vain(events[i]);
    if (events[i].kind == EventKind::yield)
      continue;
    if (i - first <= most_before_a_wait && waits(events[i]) && events[i].cpu <= next_to_nothing)
      std::fill(in_vain.begin() + static_cast<std::ptrdiff_t>(first),
                in_vain.begin() + static_cast<std::ptrdiff_t>(i), false);
    first = i + 1;
  }
  return in_vain;
}

struct Spun {
  std::uint64_t events = 0;
  Nanoseconds time{};  // from the first to the last of each row
};

// Of those the ones that belong to a row of them. Attempts at several objects in turn are one
// row, and so are what is done under a lock to see that there is nothing.
Spun spun(const std::vector<Event>& events, const std::vector<bool>& in_vain) {
  Spun sum;
  std::uint64_t row = 0;
  Nanoseconds began{};
  Nanoseconds last{};
  const auto end_row = [&] {
    if (row >= telling_row) {
      sum.events += row;
      sum.time += last - began;
    }
    row = 0;
  };
  Nanoseconds since{};
  for (std::size_t i = 0; i < events.size(); ++i) {
    since += events[i].cpu;
    if (since > next_to_nothing)
      end_row();
    if (in_vain[i]) {
      if (row++ == 0)
        began = events[i].time;
      last = events[i].time;
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

constexpr std::uint64_t telling_turns = 4;
// Of work taken past those who had been woken for it: turns, and tenths of the run's CPU time.
constexpr std::uint64_t telling_taken = 20;
constexpr std::int64_t telling_tenths = 4;

// How often locks and semaphores, by which work may be handed out, are taken; and tried, whether or not
// they were free.
struct Use {
  std::size_t threads = 0;
  std::uint64_t taken = 0;
  std::uint64_t tried = 0;
};

using Uses = std::map<std::uint32_t, Use>;

Uses uses_of(const MergedThread& thread) {
  Uses uses;
  for (const Event& event : thread.events) {
    const bool is_try = event.kind == EventKind::mutex_trylock;
    if (!is_try && event.kind != EventKind::mutex_lock && event.kind != EventKind::semaphore_wait)
      continue;
    Use& use = uses[event.subject];
    use.threads = 1;
    use.taken += event.outcome == Outcome::ok ? 1 : 0;
    use.tried += is_try ? 1 : 0;
  }
  return uses;
}

// Threads of one function, and what they use together.
struct Workers {
  std::size_t threads = 0;
  Nanoseconds cpu{};
  Uses uses;
  Nanoseconds cpu_of_busiest{-1};
  Uses uses_of_busiest;
};

Workers together(const std::vector<const MergedThread*>& threads) {
  Workers workers;
  workers.threads = threads.size();
  for (const MergedThread* thread : threads) {
    const Nanoseconds cpu = cpu_time(*thread);
    Uses own = uses_of(*thread);
    for (const auto& [object, use] : own) {
      Use& sum = workers.uses[object];
      sum.threads += use.threads;
      sum.taken += use.taken;
      sum.tried += use.tried;
    }
    workers.cpu += cpu;
    if (cpu > workers.cpu_of_busiest) {
      workers.cpu_of_busiest = cpu;
      workers.uses_of_busiest = std::move(own);
    }
  }
  return workers;
}

// They take turns at a lock, and the busiest has twice its share of the work or more and came for it: who
// takes a lock once for all that it does was given its work and not handed it out bit by bit, however
// unequal the work is.
bool took_unequal_shares(const Workers& workers) {
  constexpr std::int64_t unequal = 2;
  const bool came_for_it = std::any_of(
      workers.uses_of_busiest.begin(), workers.uses_of_busiest.end(), [&](const auto& object) {
        const Use& all = workers.uses.at(object.first);
        const std::uint64_t own = object.second.taken;
        return all.threads == workers.threads && own >= telling_turns &&
               own * (workers.threads - 1) >= (all.taken - own) * unequal;
      });
  // Two of them: all of it, or nearly.
  const auto count = static_cast<std::int64_t>(workers.threads);
  const bool is_unequal = count == 2 ? workers.cpu_of_busiest * 10 > workers.cpu * 9
                                     : workers.cpu_of_busiest * count > workers.cpu * unequal;
  return came_for_it && is_unequal;
}

// They try locks that others of them use, one of several after the other: a deque of each, say, from which
// the others take when their own is empty.
bool try_each_others_locks(const Workers& workers) {
  return std::count_if(workers.uses.begin(), workers.uses.end(), [&](const auto& object) {
           const Use& use = object.second;
           return use.threads >= 2 && use.tried >= telling_turns;
         }) >= 2;
}

}  // namespace

std::vector<Notice> lockstep_advice(const MergedRun& run) {
  std::vector<Notice> notices;
  std::uint64_t in_vain = 0;
  Spun in_rows;
  Nanoseconds end{};
  std::uint64_t events = 0;
  Nanoseconds whole{};
  std::map<std::uint64_t, std::vector<const MergedThread*>> by_function;
  for (const MergedThread& thread : run.threads) {
    events += thread.events.size();
    const std::vector<bool> vain = those_in_vain(thread.events);
    in_vain += static_cast<std::uint64_t>(std::count(vain.begin(), vain.end(), true));
    const Spun of_thread = spun(thread.events, vain);
    in_rows.events += of_thread.events;
    in_rows.time += of_thread.time;
    if (!thread.events.empty())
      end = std::max(end, thread.events.back().time);
    whole += cpu_time(thread);
    if (thread.creator.known() && thread.start_function != 0)
      by_function[thread.start_function].push_back(&thread);
  }
  const bool in_long_rows = in_rows.events != 0 && in_rows.time * telling_time >= end;
  const std::uint64_t others = in_vain - in_rows.events;
  if (in_long_rows || (others >= telling_yields && others * telling_part >= events))
    notices.push_back({std::string(spinning),
                       "Threads yield or try in vain again and again; on one CPU that takes "
                       "another course than on "
                       "several. Record with --lockstep N to have it as on N CPUs.",
                       in_vain});
  std::uint64_t handed_out = 0;
  std::uint64_t stolen = 0;
  for (const auto& [function, threads] : by_function) {
    constexpr std::int64_t telling_share = 5;  // a part in so many of the run
    const Workers workers = together(threads);
    if (workers.threads < 2 || workers.cpu * telling_share <= whole)
      continue;
    handed_out += took_unequal_shares(workers) ? 1U : 0U;
    stolen += try_each_others_locks(workers) ? 1U : 0U;
  }
  if (handed_out != 0)
    notices.push_back({std::string(work_handed_out),
                       "Threads that run the same function and share a lock got very unequal "
                       "shares of the work; if "
                       "they take it from each other, on one CPU whoever runs takes it all. Record "
                       "with --lockstep N to "
                       "have it as on N CPUs.",
                       handed_out});
  else if (const TakenWork taken = work_taken_past_woken(run);
           taken.turns >= telling_taken && taken.cpu * 10 >= whole * telling_tenths)
    notices.push_back({std::string(work_handed_out),
                       "Threads that were woken for work found that others had taken it meanwhile: "
                       "on one CPU who has it goes on. "
                       "Record with --lockstep N to have it as on N CPUs.",
                       taken.turns});
  if (stolen != 0)
    notices.push_back({std::string(work_stolen),
                       "Threads that run the same function try each other's locks; if they take "
                       "work from each other, "
                       "on one CPU another thread gets it than on several. Record with --lockstep "
                       "N to have it as on N CPUs.",
                       stolen});
  return notices;
}

Notice waiting_loops_notice(double share, const std::string& place) {
  return {std::string(waiting_loops),
          fmt::format("{:.0f}% of the CPU time went into loops that wait for what another thread "
                      "writes, most of it in {}; on one CPU they wait as long as a time slice. "
                      "Record with --lockstep N to have it as on N CPUs.",
                      std::ceil(share * 100), place),
          0};
}

bool advises_lockstep(const Notice& notice) {
  return says_that_it_spins(notice) || notice.code == work_handed_out || notice.code == work_stolen;
}

bool says_that_it_spins(const Notice& notice) {
  return notice.code == spinning || notice.code == waiting_loops;
}

}  // namespace longpole::recording
