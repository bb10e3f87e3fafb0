#include "recording/turns_in_groups.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "recording/system.h"

namespace longpole::recording {
namespace {

// A thread that had less of the CPU in a turn leaves nobody's caches empty.
constexpr Nanoseconds slice{4'000'000};
// Looking at threads is to take no more of a CPU than that.
constexpr std::int64_t turns_to_a_look = 20;

bool set_policy(pid_t thread, int policy) {
  const sched_param none{};
  return ::sched_setscheduler(thread, policy, &none) == 0;
}

}  // namespace

bool may_group_turns() {
  bool may = false;
  // A thread that could not go back would stay so.
  std::thread([&] {
    may = ::sched_getscheduler(0) == SCHED_OTHER && set_policy(0, SCHED_IDLE) &&
          set_policy(0, SCHED_OTHER);
  }).join();
  return may;
}

std::vector<pid_t> held_back_next(std::span<const ThreadInTurn> threads, std::uint32_t groups) {
  std::vector<ThreadInTurn> wanting;
  std::ranges::copy_if(threads, std::back_inserter(wanting), [](const ThreadInTurn& one) {
    return one.held_back || one.in_turn >= slice;
  });
  std::ranges::sort(wanting, {},
                    [](const ThreadInTurn& one) { return std::pair(one.cpu_time, one.thread); });
  std::vector<pid_t> out;
  for (std::size_t next = (wanting.size() + groups - 1) / groups; next < wanting.size(); ++next)
    out.push_back(wanting[next].thread);
  std::ranges::sort(out);
  return out;
}

TurnsInGroups::TurnsInGroups(pid_t process, std::uint32_t groups, std::uint32_t cpu)
    : process_(process), groups_(groups), cpu_(cpu), thread_([this] { run(); }) {}

TurnsInGroups::~TurnsInGroups() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void TurnsInGroups::run() {
  std::vector<std::uint32_t> others = usable_cpus();
  std::erase(others, cpu_);
  if (!others.empty())
    run_on(others);
  for (std::unique_lock lock(mutex_); !ends_;) {
    const std::int64_t begin = monotonic_ns();
    end_turn();
    const Nanoseconds look{monotonic_ns() - begin};
    changed_.wait_for(lock, std::max(group_turn, look * turns_to_a_look), [&] { return ends_; });
  }
  for (auto& [thread, known] : known_)
    hold_back(thread, known, false);
}

void TurnsInGroups::end_turn() {
  const bool others_are =
      std::ranges::any_of(known_, [](const auto& one) { return one.second.held_back; });
  std::vector<ThreadInTurn> found;
  std::unordered_map<pid_t, Known> there;
  for (const auto& [thread, used, waited] : task_times(process_)) {
    const auto before = known_.find(thread);
    const Known known =
        before != known_.end()
            ? before->second
            : Known{.held_back = others_are && ::sched_getscheduler(thread) == SCHED_IDLE};
    found.push_back({thread, used, used - known.cpu_time, known.held_back});
    there.emplace(thread, Known{used, known.held_back});
  }
  known_ = std::move(there);
  const std::vector<pid_t> next = held_back_next(found, groups_);
  for (auto& [thread, known] : known_)
    hold_back(thread, known, std::ranges::binary_search(next, thread));
}

void TurnsInGroups::hold_back(pid_t thread, Known& known, bool wanted) {
  if (known.held_back != wanted &&
      ::sched_getscheduler(thread) == (wanted ? SCHED_OTHER : SCHED_IDLE) &&
      set_policy(thread, wanted ? SCHED_IDLE : SCHED_OTHER))
    known.held_back = wanted;
}

}  // namespace longpole::recording
