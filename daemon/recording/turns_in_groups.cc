#include "recording/turns_in_groups.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string>
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

// CPU time, waiting time, number of slices.
Nanoseconds cpu_time_of(const std::filesystem::path& task) {
  const std::string fields = read_special_file(task / "schedstat");
  std::int64_t used = 0;
  std::from_chars(fields.data(), fields.data() + fields.size(), used);
  return Nanoseconds{used};
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
  for (auto& [thread, known] : known_)
    known.is_there = false;
  std::vector<ThreadInTurn> found;
  std::error_code error;
  for (std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", process_), error), end;
       !error && task != end; task.increment(error)) {
    const pid_t thread = std::stoi(task->path().filename().string());
    const auto [known, is_new] = known_.try_emplace(thread);
    // One that was created by a thread that is held back is so itself.
    if (is_new && ::sched_getscheduler(thread) == SCHED_IDLE)
      known->second.held_back = true;
    const Nanoseconds now = cpu_time_of(task->path());
    found.push_back(
        {thread, now, now - std::exchange(known->second.cpu_time, now), known->second.held_back});
    known->second.is_there = true;
  }
  std::erase_if(known_, [](const auto& one) { return !one.second.is_there; });
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
