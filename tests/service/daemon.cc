#include "daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace longpole::testing {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Starts the program with its three standard files.
pid_t spawn(const std::vector<std::string>& arguments,
            const std::map<std::string, std::string>& environment, int input, int output,
            int errors) {
  std::vector<std::string> words = {longpole_program().string(), "serve"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);

  std::vector<std::string> settings;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string setting = *entry;
    const std::string name = setting.substr(0, setting.find('='));
    if (name != "XDG_RUNTIME_DIR" && !environment.contains(name))
      settings.push_back(setting);
  }
  for (const auto& [name, value] : environment)
    settings.push_back(fmt::format("{}={}", name, value));
  std::vector<char*> envp;
  for (std::string& setting : settings)
    envp.push_back(setting.data());
  envp.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw std::runtime_error("cannot start " + words[0]);
  return pid;
}

std::string read_line(int fd) {
  std::string line;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < deadline) {
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, 100) <= 0)
      continue;
    char c = 0;
    if (::read(fd, &c, 1) != 1)
      return line;
    if (c == '\n')
      return line;
    line += c;
  }
  return line;
}

int open_log(const fs::path& path) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

}  // namespace

void pause_briefly() {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

fs::path longpole_program() {
  return fs::path(LONGPOLE_BUILD_DIRECTORY) / "bin" / "longpole";
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "longpole-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("cannot make a temporary directory");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TemporaryDirectory::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name) << text;
  return path_ / name;
}

Outcome run_serve(const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& environment) {
  const TemporaryDirectory directory;
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int output = open_log(directory.path() / "output");
  const int errors = open_log(directory.path() / "errors");
  const pid_t pid = spawn(arguments, environment, input, output, errors);
  Outcome outcome;
  int status = 0;
  const bool ended = eventually([&] { return ::waitpid(pid, &status, WNOHANG) == pid; });
  if (!ended) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
  }
  for (const int fd : {input, output, errors})
    ::close(fd);
  outcome.status = ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  outcome.output = contents(directory.path() / "output");
  outcome.errors = contents(directory.path() / "errors");
  return outcome;
}

Daemon::Daemon(const DaemonOptions& options) {
  int input[2];
  int output[2];
  if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0)
    throw std::runtime_error("cannot make a pipe");
  const int errors = open_log(directory_.path() / "errors");
  std::map<std::string, std::string> environment = options.environment;
  environment.try_emplace("TMPDIR", directory_.path().string());
  pid_ = spawn(options.arguments, environment, input[0], output[1], errors);
  ::close(input[0]);
  ::close(output[1]);
  ::close(errors);
  stdin_ = input[1];
  stdout_ = output[0];

  const std::string line = read_line(stdout_);
  if (!line.starts_with("READY "))
    throw std::runtime_error("no READY line but '" + line + "': " + this->errors());
  ready_ = nlohmann::json::parse(line.substr(6));
}

Daemon::~Daemon() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    EXPECT_EQ(exit_status(), 0) << errors();  // sanitizers report by it as well
  }
  close_stdin();
  ::close(stdout_);
}

void Daemon::close_stdin() {
  if (stdin_ >= 0)
    ::close(stdin_);
  stdin_ = -1;
}

void Daemon::signal(int number) const {
  ::kill(pid_, number);
}

std::optional<int> Daemon::exit_status() {
  int status = 0;
  const bool ended = eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
  if (!ended) {
    ADD_FAILURE() << "the daemon does not end";
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  if (!WIFEXITED(status))
    return std::nullopt;
  return WEXITSTATUS(status);
}

bool Daemon::running() const {
  return pid_ > 0 && ::kill(pid_, 0) == 0;
}

std::string Daemon::errors() const {
  return contents(directory_.path() / "errors");
}

}  // namespace longpole::testing
