#include "cli/input.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "analysis/confidence.h"
#include "cli/human.h"
#include "cli/progress_line.h"
#include "storage/load.h"
#include "trace/call_place.h"

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

std::vector<std::string> notices_of(const Recording& recording) {
  std::vector<std::string> out;
  for (const Notice& notice : recording.notices)
    out.push_back(notice.text);
  return out;
}

}  // namespace

Expected<Recording> open_recording(const std::string& path) {
  const ProgressLine progress(fmt::format("reading {}", path));
  auto recording = storage::load_recording(path);
  if (!recording)
    return tl::unexpected(recording.error());
  return simulation::with_known_condition_counts(*std::move(recording));
}

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

std::string deadlock_text(const Recording& recording, const simulation::Deadlock& deadlock) {
  std::string who;
  for (std::size_t i = 0; i < deadlock.threads.size() && i < most_threads_named; ++i) {
    const simulation::Blocked& blocked = deadlock.threads[i];
    const Thread& thread = recording.threads[blocked.thread.index()];
    const Event& event = thread.events[blocked.event];
    who += fmt::format("{}{} waits for {}", i == 0 ? "" : ", ", thread.name,
                       awaited(recording, event));
    if (const auto place = call_place(recording, event.site))
      who += fmt::format(
          " at {}:{}",
          std::filesystem::path(recording.files[place->file.index()].path).filename().string(),
          place->line);
    who += fmt::format(" since {}", duration_text(blocked.since));
  }
  if (deadlock.threads.size() > most_threads_named)
    who += fmt::format(" and {} more", deadlock.threads.size() - most_threads_named);
  return fmt::format("it deadlocks at {}: {}", duration_text(deadlock.at), who);
}

Error deadlock_error(const Recording& recording, const simulation::Deadlock& deadlock,
                     const std::string& path) {
  return {ErrorKind::bad_input, fmt::format("cannot simulate {}", path),
          deadlock_text(recording, deadlock),
          recording.run.source == Source::program
              ? "change the order in which its threads wait"
              : "the recorded run did not, so let `longpole simulate` choose the model"};
}

Json deadlock_json(const Recording& recording, const simulation::Deadlock& deadlock) {
  Json threads = Json::array();
  Json waits = Json::array();
  for (const simulation::Blocked& blocked : deadlock.threads) {
    const Thread& thread = recording.threads[blocked.thread.index()];
    const Event& event = thread.events[blocked.event];
    const auto place = call_place(recording, event.site);
    threads.push_back(thread.name);
    waits.push_back(
        {{"thread", thread.name},
         {"for", awaited(recording, event)},
         {"since_ns", blocked.since.count()},
         {"file", place ? Json(recording.files[place->file.index()].path) : Json(nullptr)},
         {"line", place ? Json(place->line) : Json(nullptr)}});
  }
  return {
      {"at_ns", deadlock.at.count()}, {"threads", std::move(threads)}, {"waits", std::move(waits)}};
}

std::string notices_text(const Recording& recording) {
  return notes_text(notices_of(recording));
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& note : notes)
    out += fmt::format("note: {}\n", printable(note));
  return out;
}

std::vector<std::string> notes_of(const Recording& recording) {
  std::vector<std::string> out = notices_of(recording);
  for (const Notice& doubt : analysis::doubts_of(recording))
    out.push_back(doubt.text);
  return out;
}

}  // namespace longpole::cli
