#include "recording/stopped_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "longpole/raw_record.h"
#include "recording/check_program.h"

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

// What the child needs. It runs in the memory of this process until its exec, so this stays where it is until then.
struct Plan {
  pid_t launcher = 0;
  Descriptor there;  // written to: the child's pid, or why there is none, negative
  Descriptor go;     // read from
  int go_write = -1;
  Descriptor failed;
  std::vector<std::uint32_t> cpus;
  bool wakers_run_on = false;
  sigset_t signal_mask{};
  std::string directory;
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<char*> argv{};
  std::vector<char*> envp{};
};

// A thread that is woken does not take the CPU of the one that woke it (sched(7), SCHED_BATCH). What C++20's waits wait
// for is seen only where they do wait: on one CPU a thread that is set aside as soon as it has woken another finds
// done, when it goes on, what it would have waited for on a CPU of its own.
void let_wakers_run_on() {
  const sched_param none{};
  if (::sched_getscheduler(0) == SCHED_OTHER)
    ::sched_setscheduler(0, SCHED_BATCH, &none);
}

[[noreturn]] void fail_in_child(const Plan& plan, ChildFailure::Step step) {
  const ChildFailure report{step, errno};
  static_cast<void>(write_all(plan.failed.get(), &report, sizeof report));
  ::_exit(127);
}

int run_child(void* argument) {
  const Plan& plan = *static_cast<const Plan*>(argument);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.launcher)
    ::_exit(127);
  const int own = ::getpid();
  static_cast<void>(write_all(plan.there.get(), &own, sizeof own));
  // Its own copy: of the memory there is one, of the descriptors there are two.
  ::close(plan.go_write);
  char byte = 0;
  if (::read(plan.go.get(), &byte, 1) != 1)
    ::_exit(127);
  run_on(plan.cpus);
  if (plan.wakers_run_on)
    let_wakers_run_on();
  ::sigprocmask(SIG_SETMASK, &plan.signal_mask, nullptr);
  if (!plan.directory.empty() && ::chdir(plan.directory.c_str()) != 0)
    fail_in_child(plan, ChildFailure::Step::directory);
  ::execve(plan.program.c_str(), plan.argv.data(), plan.envp.data());
  fail_in_child(plan, ChildFailure::Step::exec);
}

// On a thread of its own, which stands still from the child's first moment to its exec, as vfork(2) has it. After a
// fork the child would fault its pages in, on virtual machines for as long as many programs take to start, and all of
// that on the program's account. The thread stays: the child dies with it (PR_SET_PDEATHSIG).
[[noreturn]] void spawn_and_stay(Plan plan) {
  plan.argv = pointers(plan.arguments);
  plan.envp = pointers(plan.environment);
  constexpr std::size_t stack_size = 64 * 1024;
  std::vector<std::byte> stack(stack_size);
  if (::clone(&run_child, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &plan) <
      0) {
    const int error = -errno;
    static_cast<void>(write_all(plan.there.get(), &error, sizeof error));
  }
  // Behind the exec nobody else holds it: who reads the other end learns that nothing failed.
  plan.failed.reset();
  for (;;)
    ::pause();
}

}  // namespace

Expected<StoppedChild> StoppedChild::spawn(const Request& request,
                                           const std::filesystem::path& run_directory,
                                           const std::vector<std::uint32_t>& cpus,
                                           const sigset_t& signal_mask) {
  const std::string what = fmt::format("cannot start {}", request.program.string());
  std::array<int, 2> there{};
  std::array<int, 2> go{};
  std::array<int, 2> failed{};
  if (::pipe2(there.data(), O_CLOEXEC) != 0)
    return failure(what, std::strerror(errno));
  const Descriptor told(there[0]);
  Descriptor there_write(there[1]);
  if (::pipe2(go.data(), O_CLOEXEC) != 0)
    return failure(what, std::strerror(errno));
  Descriptor go_read(go[0]);
  StoppedChild child;
  child.go_ = Descriptor(go[1]);
  if (::pipe2(failed.data(), O_CLOEXEC) != 0)
    return failure(what, std::strerror(errno));
  child.failed_ = Descriptor(failed[0]);
  Plan plan{.launcher = ::getpid(),
            .there = std::move(there_write),
            .go = std::move(go_read),
            .go_write = go[1],
            .failed = Descriptor(failed[1]),
            .cpus = cpus,
            .wakers_run_on = !request.all_cpus && request.lockstep == 0 &&
                             waits_in_ways_of_its_own(request.program),
            .signal_mask = signal_mask,
            .directory = request.directory,
            .program = request.program,
            .arguments = request.argv,
            .environment = environment_of(request, run_directory)};
  try {
    std::thread(spawn_and_stay, std::move(plan)).detach();
  } catch (const std::system_error& error) {
    return failure(what, error.what(), "free some processes or memory");
  }
  int pid = -1;
  while (::read(told.get(), &pid, sizeof pid) < 0 && errno == EINTR) {
  }
  if (pid < 0)
    return failure(what, std::strerror(-pid), "free some processes or memory");
  child.pid_ = pid;
  child.program_ = request.program;
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
