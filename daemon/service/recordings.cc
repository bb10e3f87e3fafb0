#include "service/recordings.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "service/limits.h"
#include "storage/load.h"

namespace longpole::service {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

Error no_such_handle(std::uint64_t handle) {
  return {ErrorKind::not_found, fmt::format("no recording has the handle {}", handle),
          "it was closed, or never open", "open the recording again"};
}

}  // namespace

Expected<Recordings::FileIdentity> Recordings::identify(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const int error = errno;
    const std::string what = "cannot read " + path.string();
    const std::string why = std::generic_category().message(error);
    if (error == ENOENT || error == ENOTDIR)
      return not_found(what, why);
    if (error == ENAMETOOLONG || error == ELOOP)
      return bad_input(what, why);
    return failure(what, why);
  }
  return FileIdentity{status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim),
                      nanoseconds(status.st_ctim)};
}

Expected<Recordings::Opened> Recordings::open(const std::filesystem::path& path) {
  const auto handle = reserve("open " + path.string());
  if (!handle)
    return tl::unexpected(handle.error());
  Loaded loaded = load_shared(path);
  const std::lock_guard lock(mutex_);
  if (!loaded) {
    by_handle_.erase(*handle);
    return tl::unexpected(loaded.error());
  }
  by_handle_[*handle] = *loaded;
  return Opened{*handle, *loaded};
}

Recordings::Loaded Recordings::load_shared(const std::filesystem::path& path) {
  const auto identity = identify(path);
  if (!identity)
    return tl::unexpected(identity.error());

  std::promise<Loaded> promise;
  std::shared_future<Loaded> elsewhere;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = by_file_.find(*identity); known != by_file_.end()) {
      if (auto recording = known->second.lock())
        return recording;
    }
    if (const auto other = loading_.find(*identity); other != loading_.end())
      elsewhere = other->second;
    else
      loading_[*identity] = promise.get_future().share();
  }
  // Whoever loads it does so in a thread of its own that waits for nobody: no deadlock.
  if (elsewhere.valid())
    return elsewhere.get();

  const auto finish = [&](Loaded loaded) {
    if (const auto now = identify(path); loaded && now && *now == *identity)
      remember(*identity, *loaded);
    const std::lock_guard lock(mutex_);
    loading_.erase(*identity);
    promise.set_value(loaded);
    return loaded;
  };
  try {
    auto recording = storage::load_recording(path);
    if (!recording)
      return finish(tl::unexpected(recording.error()));
    return finish(std::make_shared<OpenRecording>(*std::move(recording)));
  } catch (...) {
    const std::lock_guard lock(mutex_);
    loading_.erase(*identity);
    promise.set_exception(std::current_exception());
    throw;
  }
}

void Recordings::remember(const FileIdentity& identity,
                          const std::shared_ptr<OpenRecording>& recording) {
  const std::lock_guard lock(mutex_);
  std::erase_if(by_file_, [](const auto& entry) { return entry.second.expired(); });
  by_file_[identity] = recording;
}

Expected<std::shared_ptr<OpenRecording>> Recordings::find(std::uint64_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_handle_.find(handle);
  if (found == by_handle_.end() || found->second == nullptr)
    return tl::unexpected(no_such_handle(handle));
  return found->second;
}

Expected<void> Recordings::close(std::uint64_t handle) {
  std::shared_ptr<OpenRecording> last;  // freed after the lock
  const std::lock_guard lock(mutex_);
  const auto found = by_handle_.find(handle);
  if (found == by_handle_.end())
    return tl::unexpected(no_such_handle(handle));
  last = std::move(found->second);
  by_handle_.erase(found);
  return {};
}

Expected<std::uint64_t> Recordings::reserve(const std::string& what_for) {
  const std::lock_guard lock(mutex_);
  if (by_handle_.size() >= max_open_recordings)
    return over_limit("cannot " + what_for,
                      fmt::format("{} recordings are open, as many as the daemon keeps "
                                  "(max_open_recordings)",
                                  max_open_recordings),
                      "close one first");
  const std::uint64_t handle = next_handle_++;
  by_handle_[handle] = nullptr;
  return handle;
}

std::shared_ptr<OpenRecording> Recordings::fill(std::uint64_t handle, Recording recording,
                                                const std::filesystem::path& path) {
  auto opened = std::make_shared<OpenRecording>(std::move(recording));
  if (const auto identity = identify(path))
    remember(*identity, opened);
  const std::lock_guard lock(mutex_);
  by_handle_[handle] = opened;
  return opened;
}

}  // namespace longpole::service
