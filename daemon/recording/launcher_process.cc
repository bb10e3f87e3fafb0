#include "recording/launcher_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace longpole::recording {
namespace {

constexpr const char* cannot_start = "cannot start the launcher";

// posix_spawn's settings, which have to be destroyed.
struct SpawnSettings {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
  std::vector<Descriptor> its_ends;  // of pipes

  SpawnSettings() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  // What the process writes to `descriptor` can be read from the end that is returned. The other one is
  // closed here with the settings, so that the end of the process is the end of what there is to read.
  Expected<Descriptor> pipe_from(int descriptor) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      return failure(cannot_start, std::strerror(errno), "close some files");
    // Whoever has too many large pipes gets a small one.
    static_cast<void>(::fcntl(ends[1], F_SETPIPE_SZ, pipe_size));
    ::posix_spawn_file_actions_adddup2(&files, ends[1], descriptor);
    its_ends.emplace_back(ends[1]);
    return Descriptor(ends[0]);
  }

  void start_afresh() {
    sigset_t none;
    sigset_t pipe;
    ::sigemptyset(&none);
    ::sigemptyset(&pipe);
    ::sigaddset(&pipe, SIGPIPE);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &pipe);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
};

}  // namespace

Expected<LauncherProcess> start_launcher(const std::filesystem::path& launcher,
                                         const std::filesystem::path& run_directory,
                                         Output output) {
  std::array<int, 2> lifeline{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lifeline.data()) != 0)
    return failure(cannot_start, std::strerror(errno), "close some files");
  LauncherProcess process;
  process.lifeline = Descriptor(lifeline[0]);
  const Descriptor its_lifeline(lifeline[1]);

  SpawnSettings settings;
  // To itself: the copy in the child is open across exec.
  ::posix_spawn_file_actions_adddup2(&settings.files, its_lifeline.get(), its_lifeline.get());
  if (output != Output::inherited) {
    ::posix_spawn_file_actions_addopen(&settings.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (output == Output::piped) {
      auto standard_output = settings.pipe_from(STDOUT_FILENO);
      if (!standard_output)
        return tl::unexpected(standard_output.error());
      process.standard_output = *std::move(standard_output);
    } else {
      ::posix_spawn_file_actions_addopen(&settings.files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    auto standard_error = settings.pipe_from(STDERR_FILENO);
    if (!standard_error)
      return tl::unexpected(standard_error.error());
    process.standard_error = *std::move(standard_error);
    settings.start_afresh();
  }
  std::array<std::string, 4> arguments = {"longpole", "launch", run_directory.string(),
                                          fmt::format("{}", its_lifeline.get())};
  std::array<char*, 5> argv{};
  for (std::size_t i = 0; i < arguments.size(); ++i)
    argv[i] = arguments[i].data();
  const int error = ::posix_spawn(&process.pid, launcher.c_str(), &settings.files,
                                  &settings.attributes, argv.data(), environ);
  if (error != 0)
    return failure(cannot_start, fmt::format("{}: {}", launcher.string(), std::strerror(error)));
  process.exited = Descriptor(open_pidfd(process.pid));
  if (!process.exited) {
    const int reason = errno;
    ::kill(process.pid, SIGTERM);
    ::waitpid(process.pid, nullptr, 0);
    return failure(cannot_start, fmt::format("no pidfd: {}", std::strerror(reason)),
                   "Linux 5.3 or newer is needed");
  }
  return process;
}

}  // namespace longpole::recording
