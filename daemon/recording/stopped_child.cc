#include "recording/stopped_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "longpole/raw_record.h"

namespace longpole::recording {
namespace {

// Which step failed, and why. One write of this size to a pipe is whole.
struct ChildFailure {
  enum class Step : int { directory, exec } step;
  int error;
};

// The value of a variable that the program will have; null: none.
const char* given(const Request& request, const std::string& name) {
  const char* value = ::getenv(name.c_str());
  for (const std::string& own : request.environment)
    if (own.starts_with(name + "="))
      value = own.c_str() + name.size() + 1;
  return value;
}

std::string preload_variable(const Request& request) {
  std::string value;
  for (const std::string& library : request.preload)
    value += (value.empty() ? "" : ":") + library;
  const char* inherited = given(request, "LD_PRELOAD");
  if (inherited != nullptr && *inherited != '\0')
    value += std::string(":") + inherited;
  return value;
}

// What the user says comes behind, and holds.
std::string address_sanitizer_options(const Request& request) {
  const char* name = "ASAN_OPTIONS";
  const char* inherited = given(request, name);
  return fmt::format("{}=verify_asan_link_order=0{}{}", name, inherited != nullptr ? ":" : "",
                     inherited != nullptr ? inherited : "");
}

// In place of what has the same name.
void add_variable(std::vector<std::string>& all, const std::string& variable) {
  const std::string name = variable.substr(0, variable.find('=') + 1);
  std::erase_if(all, [&](const std::string& other) { return other.starts_with(name); });
  all.push_back(variable);
}

std::vector<std::string> environment_of(const Request& request,
                                        const std::filesystem::path& run_directory) {
  std::vector<std::string> added = request.environment;
  added.push_back("LD_PRELOAD=" + preload_variable(request));
  added.push_back(std::string(LONGPOLE_DIRECTORY_VARIABLE) + "=" + run_directory.string());
  // The address sanitizer wants to be loaded first, and ends the program otherwise. That holds for programs that
  // the recorded one starts as well, where nobody can load it first.
  if (request.follow)
    added.push_back(address_sanitizer_options(request));
  std::vector<std::string> all;
  // On one CPU, threads of OpenMP that spin before they sleep only keep the others from working, and
  // look busy. What the user says comes behind, and holds.
  if (!request.all_cpus)
    all = {"GOMP_SPINCOUNT=0", "KMP_BLOCKTIME=0"};
  for (char** variable = environ; *variable != nullptr; ++variable)
    add_variable(all, *variable);
  for (const std::string& variable : added)
    add_variable(all, variable);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings)
    result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

[[noreturn]] void fail_in_child(int pipe, ChildFailure::Step step) {
  const ChildFailure report{step, errno};
  static_cast<void>(write_all(pipe, &report, sizeof report));
  ::_exit(127);
}

}  // namespace

Expected<StoppedChild> StoppedChild::fork(const Request& request,
                                          const std::filesystem::path& run_directory,
                                          const std::vector<std::uint32_t>& cpus,
                                          const sigset_t& signal_mask) {
  std::array<int, 2> go{};
  std::array<int, 2> failed{};
  const std::string what = fmt::format("cannot start {}", request.program.string());
  if (::pipe2(go.data(), O_CLOEXEC) != 0)
    return failure(what, std::strerror(errno));
  Descriptor go_read(go[0]);
  Descriptor go_write(go[1]);
  if (::pipe2(failed.data(), O_CLOEXEC) != 0)
    return failure(what, std::strerror(errno));
  Descriptor failed_read(failed[0]);
  Descriptor failed_write(failed[1]);

  std::vector<std::string> argv_strings = request.argv;
  std::vector<std::string> environment_strings = environment_of(request, run_directory);
  std::vector<char*> argv = pointers(argv_strings);
  std::vector<char*> environment = pointers(environment_strings);

  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0)
    return failure(what, std::strerror(errno), "free some processes or memory");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launcher)
      ::_exit(127);
    go_write.reset();
    char byte = 0;
    if (::read(go_read.get(), &byte, 1) != 1)
      ::_exit(127);
    run_on(cpus);
    ::sigprocmask(SIG_SETMASK, &signal_mask, nullptr);
    if (!request.directory.empty() && ::chdir(request.directory.c_str()) != 0)
      fail_in_child(failed_write.get(), ChildFailure::Step::directory);
    ::execve(request.program.c_str(), argv.data(), environment.data());
    fail_in_child(failed_write.get(), ChildFailure::Step::exec);
  }
  StoppedChild child;
  child.pid_ = pid;
  child.program_ = request.program;
  child.go_ = std::move(go_write);
  child.failed_ = std::move(failed_read);
  return child;
}

Expected<void> StoppedChild::release() {
  const char byte = 1;
  static_cast<void>(write_all(go_.get(), &byte, 1));
  ChildFailure report{};
  ssize_t size = 0;
  while ((size = ::read(failed_.get(), &report, sizeof report)) < 0 && errno == EINTR) {
  }
  if (size != static_cast<ssize_t>(sizeof report))
    return {};
  const std::string what = fmt::format("cannot start {}", program_.string());
  if (report.step == ChildFailure::Step::directory)
    return bad_input(what, fmt::format("its directory: {}", std::strerror(report.error)),
                     "name a directory that exists");
  return bad_input(what, std::strerror(report.error),
                   report.error == EACCES ? "is its file system mounted noexec?"
                                          : "does it run without Longpole?");
}

}  // namespace longpole::recording
