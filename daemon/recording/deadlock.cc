#include "recording/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trace/call_place.h"
#include "trace/event_kinds.h"

namespace longpole::recording {
namespace {

// The call that a thread is in at the end; null: none.
const Event* unfinished_call(const Thread& thread) {
  const auto found = std::ranges::find(thread.events, Outcome::unfinished, &Event::outcome);
  return found == thread.events.end() ? nullptr : &*found;
}

// How often each mutex and rwlock was taken and not given back.
std::map<std::uint32_t, int> held(const Recording& recording, const Thread& thread) {
  std::map<std::uint32_t, int> held;
  for (const Event& event : thread.events) {
    if (event.kind == EventKind::condition_wait || event.kind == EventKind::condition_timedwait) {
      held[event.other] -= event.outcome == Outcome::unfinished ? 1 : 0;
      continue;
    }
    // A semaphore is nobody's: any thread may post it.
    const int change = acquires_object(event.kind) ? 1 : gives_object_back(event.kind) ? -1 : 0;
    if (change != 0 && event.outcome == Outcome::ok &&
        recording.objects[event.subject].kind != ObjectKind::semaphore)
      held[event.subject] += change;
  }
  std::erase_if(held, [](const auto& lock) { return lock.second <= 0; });
  return held;
}

class Waits {
 public:
  explicit Waits(const Recording& recording) : recording_(recording) {
    for (const Thread& thread : recording.threads) {
      const auto id = static_cast<std::uint32_t>(waits_.size());
      waits_.push_back(unfinished_call(thread));
      for (const auto& [lock, times] : held(recording, thread))
        holder_.emplace(lock, id);
    }
  }

  // Whom the thread waits for; none: nobody, or nobody knows.
  [[nodiscard]] ThreadId next(ThreadId thread) const {
    const Event* const call = waits_[thread.index()];
    if (call == nullptr)
      return ThreadId::none();
    if (call->kind == EventKind::thread_join)
      return ThreadId{call->subject};
    if (call->kind != EventKind::mutex_lock && call->kind != EventKind::rwlock_write)
      return ThreadId::none();
    const auto holder = holder_.find(call->subject);
    return holder == holder_.end() ? ThreadId::none() : ThreadId{holder->second};
  }

  [[nodiscard]] std::string text(ThreadId thread) const {
    const Event& call = *waits_[thread.index()];
    const std::string& other = recording_.threads[next(thread).index()].name;
    const std::string who =
        fmt::format("{} waits{} for ", recording_.threads[thread.index()].name, place(call.site));
    if (call.kind == EventKind::thread_join)
      return fmt::format("{}the end of {}", who, other);
    return fmt::format("{}{}, which {} holds", who, recording_.objects[call.subject].name,
                       next(thread) == thread ? "it" : other);
  }

 private:
  [[nodiscard]] std::string place(StackId site) const {
    const auto place = call_place(recording_, site);
    if (!place)
      return {};
    const std::filesystem::path path = recording_.files[place->file.index()].path;
    return fmt::format(" at {}:{}", path.filename().string(), place->line);
  }

  const Recording& recording_;
  std::vector<const Event*> waits_;                // by thread
  std::map<std::uint32_t, std::uint32_t> holder_;  // by lock
};

}  // namespace

std::optional<Notice> find_deadlock(const Recording& recording) {
  const Waits waits(recording);
  for (std::uint32_t first = 0; first < recording.threads.size(); ++first) {
    const ThreadId start{first};
    std::vector<ThreadId> cycle;
    ThreadId thread = start;
    while (thread.known() && std::ranges::find(cycle, thread) == cycle.end()) {
      cycle.push_back(thread);
      thread = waits.next(thread);
    }
    if (thread != start)
      continue;
    std::string text = "Deadlock: ";
    for (std::size_t i = 0; i < cycle.size(); ++i)
      text += (i == 0 ? "" : i + 1 == cycle.size() ? ", and " : ", ") + waits.text(cycle[i]);
    return Notice{"deadlocked", text + ". They wait until the recording ends.", cycle.size()};
  }
  return std::nullopt;
}

}  // namespace longpole::recording
