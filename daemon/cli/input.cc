#include "cli/input.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/human.h"
#include "cli/progress_line.h"
#include "storage/load.h"

namespace longpole::cli {
namespace {

// More would hide the message; --json has them all.
constexpr std::size_t most_threads_named = 8;

// What a blocked thread waits for: "mutex M", "the end of thread T".
std::string awaited(const Recording& recording, const Event& event) {
  const auto object = [&](const char* kind) {
    return fmt::format("{} {}", kind, recording.objects[event.object().index()].name);
  };
  switch (event.kind) {
    case EventKind::mutex_lock:
    case EventKind::mutex_timedlock:
      return object("mutex");
    case EventKind::rwlock_read:
    case EventKind::rwlock_write:
      return object("read-write lock");
    case EventKind::semaphore_wait:
    case EventKind::semaphore_timedwait:
      return object("semaphore");
    case EventKind::condition_wait:
    case EventKind::condition_timedwait:
      return object("condition");
    case EventKind::condition_broadcast:
      return fmt::format("{} to have as many waiting as in the recording", object("condition"));
    case EventKind::barrier_wait:
      return object("barrier");
    case EventKind::receive:
      return object("channel");
    case EventKind::send:
      return fmt::format("thread {} to receive {}",
                         recording.threads[event.receiver().index()].name, object("channel"));
    case EventKind::thread_join:
      return fmt::format("the end of thread {}", recording.threads[event.thread().index()].name);
    default:
      return "something else";
  }
}

}  // namespace

Expected<std::shared_ptr<const analysis::Study>> open_study(const std::string& path) {
  ProgressLine progress(fmt::format("reading {}", path));
  auto recording = storage::load_recording(path);
  if (!recording)
    return tl::unexpected(recording.error());
  progress.set(fmt::format("simulating {}", count_text(recording->event_count(), "event")));
  return std::make_shared<const analysis::Study>(
      std::make_shared<const Recording>(std::move(*recording)));
}

std::string program_name(const Recording& recording, const std::string& path) {
  const std::string& name = recording.run.command.empty() ? path : recording.run.command.front();
  return std::filesystem::path(name).filename().string();
}

Error deadlock_error(const Recording& recording, const simulation::Deadlock& deadlock,
                     const std::string& path) {
  std::string who;
  for (std::size_t i = 0; i < deadlock.threads.size() && i < most_threads_named; ++i) {
    const simulation::Blocked& blocked = deadlock.threads[i];
    const Thread& thread = recording.threads[blocked.thread.index()];
    who +=
        fmt::format("{}{} waits for {} since {}", i == 0 ? "" : ", ", thread.name,
                    awaited(recording, thread.events[blocked.event]), duration_text(blocked.since));
  }
  if (deadlock.threads.size() > most_threads_named)
    who += fmt::format(" and {} more", deadlock.threads.size() - most_threads_named);
  return {ErrorKind::bad_input, fmt::format("cannot simulate {}", path),
          fmt::format("it deadlocks at {}: {}", duration_text(deadlock.at), who),
          "change the order in which its threads wait"};
}

std::string notices_text(const Recording& recording) {
  std::string out;
  for (const Notice& notice : recording.notices)
    out += fmt::format("note: {}\n", printable(notice.text));
  return out;
}

}  // namespace longpole::cli
