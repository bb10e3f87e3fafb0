// The recordings that clients have open, by handle.
//
// A handle is given out once and never again. Handles of one unchanged file share one OpenRecording,
// which lives as long as one of them or a request that uses it. Thread-safe; loading takes place in
// the caller's thread, outside the lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "service/open_recording.h"
#include "trace/error.h"

namespace longpole::service {

class Recordings {
 public:
  struct Opened {
    std::uint64_t handle = 0;
    std::shared_ptr<OpenRecording> recording;
  };

  [[nodiscard]] Expected<Opened> open(const std::filesystem::path& path);
  [[nodiscard]] Expected<std::shared_ptr<OpenRecording>> find(std::uint64_t handle) const;
  [[nodiscard]] Expected<void> close(std::uint64_t handle);

  // In two steps, for a recording that is about to be made: reserve() refuses before the program
  // runs what could not be kept after; find() does not know the handle until fill(), which takes the
  // recording that was written to `path`. close() gives the handle up in either state.
  [[nodiscard]] Expected<std::uint64_t> reserve(const std::string& what_for);
  [[nodiscard]] std::shared_ptr<OpenRecording> fill(std::uint64_t handle, Recording recording,
                                                    const std::filesystem::path& path);

 private:
  // What tells whether a path still names the same, unchanged file.
  struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
  };
  using Loaded = Expected<std::shared_ptr<OpenRecording>>;

  [[nodiscard]] static Expected<FileIdentity> identify(const std::filesystem::path& path);
  [[nodiscard]] Loaded load_shared(const std::filesystem::path& path);
  void remember(const FileIdentity& identity, const std::shared_ptr<OpenRecording>& recording);

  mutable std::mutex mutex_;
  std::uint64_t next_handle_ = 1;
  std::map<std::uint64_t, std::shared_ptr<OpenRecording>> by_handle_;  // null: reserved
  std::map<FileIdentity, std::weak_ptr<OpenRecording>> by_file_;
  std::map<FileIdentity, std::shared_future<Loaded>> loading_;
};

}  // namespace longpole::service
