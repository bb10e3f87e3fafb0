#include "service/socket_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace longpole::service {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_path_bytes = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::string_view socket_name = "daemon.sock";

std::string reason(int error) {
  return std::generic_category().message(error);
}

std::string cannot_listen(const std::string& path) {
  return "cannot listen on " + path;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  void reset(int fd = -1) {
    if (fd_ >= 0)
      ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

Expected<void> check_length(const std::string& path) {
  if (path.size() <= max_path_bytes)
    return {};
  return over_limit(cannot_listen(path),
                    fmt::format("the path of a socket has at most {} bytes, this one has {}",
                                max_path_bytes, path.size()),
                    "choose a shorter one with --socket");
}

// The directory, opened, if only this user can enter it.
Expected<int> open_private_directory(const std::string& directory, const std::string& socket) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    const int error = errno;
    if (error == ENOENT)
      return not_found(cannot_listen(socket), "the directory " + directory + " does not exist");
    if (error == ENOTDIR || error == ELOOP)
      return bad_input(cannot_listen(socket), directory + " is not a directory",
                       "a link to a directory will not do");
    return failure(cannot_listen(socket), "cannot open " + directory + ": " + reason(error));
  }
  Descriptor opened(fd);
  struct stat status {};
  if (::fstat(fd, &status) != 0)
    return failure(cannot_listen(socket), "cannot look at " + directory + ": " + reason(errno));
  const char* remedy = "leave --socket out, or name a socket in a directory of your own";
  if (status.st_uid != ::geteuid())
    return bad_input(cannot_listen(socket), "the directory " + directory + " is someone else's",
                     remedy);
  if ((status.st_mode & 077U) != 0)
    return bad_input(cannot_listen(socket),
                     fmt::format("others can enter the directory {} (mode {:04o})", directory,
                                 status.st_mode & 07777U),
                     "chmod 700 it, or leave --socket out");
  const int kept = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (kept < 0)
    return failure(cannot_listen(socket), reason(errno));
  return kept;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// Makes sure that nothing of value is at `path`. The directory is locked.
Expected<void> make_free(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT)
      return {};
    return failure(cannot_listen(path), reason(errno));
  }
  if (!S_ISSOCK(status.st_mode))
    return bad_input(cannot_listen(path), "there is something that is not a socket",
                     "choose another name with --socket");
  Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe.open())
    return failure(cannot_listen(path), reason(errno));
  const sockaddr_un address = address_of(path);
  // EAGAIN: somebody listens and is busy.
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
      errno == EAGAIN)
    return failure(cannot_listen(path), "another daemon listens there",
                   "end that one, or choose another name with --socket");
  if (errno != ECONNREFUSED)
    return failure(cannot_listen(path), reason(errno));
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return failure(cannot_listen(path), "cannot remove the socket left there: " + reason(errno));
  return {};
}

Expected<std::string> make_new_directory() {
  std::vector<std::string> bases;
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value == '/')
      bases.emplace_back(value);
  }
  bases.emplace_back("/tmp");

  std::string why;
  for (const std::string& base : bases) {
    std::string directory = (fs::path(base) / "longpole-XXXXXX").lexically_normal().string();
    if (directory.size() + 1 + socket_name.size() > max_path_bytes)
      why = fmt::format("{} is too long for the {} bytes of a socket's path", base, max_path_bytes);
    else if (::mkdtemp(directory.data()) != nullptr)
      return directory;
    else
      why = base + ": " + reason(errno);
  }
  return failure("cannot make a directory for the daemon's socket", why,
                 "name a socket in a directory of your own with --socket");
}

}  // namespace

struct SocketPlace::State {
  std::string path;
  std::string directory;
  bool made_directory = false;
  Descriptor lock{-1};  // the directory; flock()ed until bound()

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  // gRPC removes the socket when it shuts down. Only in a directory of our own is it certain that a
  // socket left there is ours and not that of a daemon that came after.
  ~State() {
    if (!made_directory)
      return;
    ::unlink(path.c_str());
    ::rmdir(directory.c_str());
  }
};

SocketPlace::SocketPlace(std::unique_ptr<State> state) : state_(std::move(state)) {}
SocketPlace::~SocketPlace() = default;
SocketPlace::SocketPlace(SocketPlace&&) noexcept = default;
SocketPlace& SocketPlace::operator=(SocketPlace&&) noexcept = default;

Expected<SocketPlace> SocketPlace::claim(const std::string& wanted) {
  auto state = std::make_unique<State>();
  if (wanted.empty()) {
    auto directory = make_new_directory();
    if (!directory)
      return tl::unexpected(directory.error());
    state->directory = *directory;
    state->made_directory = true;
    state->path = state->directory + "/" + std::string(socket_name);
  } else {
    std::error_code error;
    const fs::path path = fs::absolute(wanted, error).lexically_normal();
    if (error || !path.has_filename())
      return bad_input(cannot_listen(wanted), "that is not the name of a file");
    state->path = path.string();
    state->directory = path.parent_path().string();
    if (auto fits = check_length(state->path); !fits)
      return tl::unexpected(fits.error());
    if (::mkdir(state->directory.c_str(), 0700) == 0)
      state->made_directory = true;
  }

  auto directory = open_private_directory(state->directory, state->path);
  if (!directory)
    return tl::unexpected(directory.error());
  state->lock.reset(*directory);
  if (::flock(state->lock.get(), LOCK_EX) != 0)
    return failure(cannot_listen(state->path),
                   "cannot lock " + state->directory + ": " + reason(errno));
  if (auto free = make_free(state->path); !free)
    return tl::unexpected(free.error());
  return SocketPlace(std::move(state));
}

const std::string& SocketPlace::path() const {
  return state_->path;
}

std::string SocketPlace::grpc_address() const {
  std::string address = "unix:";
  for (const char c : state_->path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') ||
                       std::string_view("/._-~").find(c) != std::string_view::npos;
    address += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return address;
}

Expected<void> SocketPlace::bound() {
  if (::chmod(state_->path.c_str(), 0600) != 0)
    return failure(cannot_listen(state_->path), reason(errno));
  state_->lock.reset();
  return {};
}

}  // namespace longpole::service
