#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "storage/load.h"

namespace longpole::storage {
namespace {

// Far above any recording within the limits of the formats; it keeps a wrong file from filling the
// memory.
constexpr std::int64_t largest_file = std::int64_t{16} << 30U;

std::string reason(int error) {
  return std::generic_category().message(error);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  // Closes now, for the error that some file systems report only then.
  [[nodiscard]] bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// A file under a name of its own until it is whole. Removed unless it was given its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& beside)
      : path_(fmt::format("{}.{}-{}.tmp", beside.string(), ::getpid(), next_number++)),
        file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)),
        exists_(file_.get() >= 0) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (exists_)
      ::unlink(path_.c_str());
  }

  [[nodiscard]] bool exists() const { return exists_; }

  [[nodiscard]] bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(file_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    // Without it the new name may reach the disk before the content, and a power cut leaves an
    // empty file in place of the old one. Some file systems cannot, and say EINVAL.
    if (::fsync(file_.get()) != 0 && errno != EINVAL)
      return false;
    return file_.close();
  }

  [[nodiscard]] bool rename_to(const std::filesystem::path& path) {
    exists_ = std::rename(path_.c_str(), path.c_str()) != 0;
    return !exists_;
  }

 private:
  static inline std::atomic<std::uint64_t> next_number{0};
  std::string path_;
  Descriptor file_;
  bool exists_;
};

}  // namespace

Expected<std::string> read_file_whole(const std::filesystem::path& path) {
  const std::string what = fmt::format("cannot read {}", path.string());
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR)
      return not_found(what, "there is no such file", "check the name");
    return failure(what, reason(error));
  }
  struct ::stat status {};
  if (::fstat(file.get(), &status) != 0)
    return failure(what, reason(errno));
  if (S_ISDIR(status.st_mode))
    return bad_input(what, "it is a directory", "name a .lptrace, .prog or .rec file in it");
  if (!S_ISREG(status.st_mode))
    return bad_input(what, "it is not a regular file", "copy it to one first");
  if (status.st_size > largest_file)
    return over_limit(
        what, fmt::format("it has {} bytes; the limit is {}", status.st_size, largest_file));

  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < content.size()) {
    const ssize_t n = ::read(file.get(), content.data() + filled, content.size() - filled);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return failure(what, reason(errno));
    if (n == 0)
      break;
    filled += static_cast<std::size_t>(n);
  }
  content.resize(filled);
  return content;
}

Expected<void> check_replaceable(const std::filesystem::path& path) {
  const std::string what = fmt::format("cannot write {}", path.string());
  std::error_code ignored;
  const std::filesystem::file_status there = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(there))
    return bad_input(what, "it is a directory", "name a file");
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    return bad_input(what, "it is there and is not a regular file", "name another file");
  return {};
}

Expected<void> write_file_whole(std::string_view bytes, const std::filesystem::path& path) {
  if (auto sound = check_replaceable(path); !sound)
    return sound;
  const std::string what = fmt::format("cannot write {}", path.string());
  std::error_code problem;
  // A link stays; what it points to is replaced.
  const std::filesystem::path target =
      std::filesystem::exists(path, problem) ? std::filesystem::canonical(path, problem) : path;

  TemporaryFile file(target);
  if (file.exists() && file.write(bytes) && file.rename_to(target))
    return {};
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR)
    return not_found(what, "there is no such directory", "make it first, or name another");
  return failure(what, reason(error),
                 error == ENOSPC ? "free some space, or write to another disk" : "");
}

}  // namespace longpole::storage
