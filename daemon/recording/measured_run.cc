#include "recording/measured_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <thread>
#include <utility>

#include "recording/fewer_at_once.h"
#include "recording/stop_signals.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

// What is started meanwhile runs on these CPUs: a child has those of the thread that starts it.
class OnCpus {
 public:
  explicit OnCpus(const std::vector<std::uint32_t>& cpus) : before_(usable_cpus()) { run_on(cpus); }
  ~OnCpus() { run_on(before_); }
  OnCpus(const OnCpus&) = delete;
  OnCpus& operator=(const OnCpus&) = delete;

 private:
  std::vector<std::uint32_t> before_;
};

// sched_setattr(2), as far as its first version goes. glibc 2.36 has no function for it.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

// What is started meanwhile has such a slice, if this thread is an ordinary one: it has it from the thread
// that starts it. Where the system refuses, all is as it was.
class WithSlice {
 public:
  explicit WithSlice(Nanoseconds slice) {
    if (slice == Nanoseconds{} ||
        ::syscall(SYS_sched_getattr, 0, &before_, sizeof before_, 0) != 0 ||
        before_.policy != SCHED_OTHER)
      return;
    SchedulingAttributes wanted = before_;
    wanted.runtime = static_cast<std::uint64_t>(slice.count());
    changed_ = ::syscall(SYS_sched_setattr, 0, &wanted, 0) == 0;
    before_.runtime = 0;  // as the system has it
  }
  ~WithSlice() {
    if (changed_)
      ::syscall(SYS_sched_setattr, 0, &before_, 0);
  }
  WithSlice(const WithSlice&) = delete;
  WithSlice& operator=(const WithSlice&) = delete;

 private:
  SchedulingAttributes before_;
  bool changed_ = false;
};

// Calls of others, as of 32-bit programs, have other numbers.
#if defined(__x86_64__)
constexpr std::uint32_t own_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t own_architecture = AUDIT_ARCH_AARCH64;
#else
#error "name it as seccomp(2) does"
#endif

// From now on, for this thread and what it starts.
bool ignore_own_affinity() {
  std::array<sock_filter, 6> code = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_architecture, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),  // with errno 0: success
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{code.size(), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

struct Started {
  pid_t pid = 0;
  std::int64_t at_ns = 0;
};

enum class Group : std::int16_t { ours = 0, its_own = POSIX_SPAWN_SETPGROUP };

struct Start {
  const std::filesystem::path& program;
  const std::vector<std::string>& arguments;
  const std::vector<std::uint32_t>& cpus;
  Nanoseconds slice{};
  Group group = Group::ours;
  OwnAffinity affinity = OwnAffinity::granted;
};

// Or errno.
tl::expected<Started, int> started_by_this_thread(const Start& start) {
  std::vector<std::string> words = start.arguments;
  words.insert(words.begin(), start.program.string());
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&files, output, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, static_cast<std::int16_t>(start.group));
  const OnCpus from({start.cpus.front()});
  const OnCpus there(start.cpus);
  const WithSlice sliced(start.slice);
  int error = start.affinity == OwnAffinity::ignored && !ignore_own_affinity() ? errno : 0;
  Started started;
  started.at_ns = monotonic_ns();
  if (error == 0)
    error = ::posix_spawn(&started.pid, start.program.c_str(), &files, &attributes, argv.data(),
                          environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    return tl::unexpected(error);
  return started;
}

// What a thread has forbidden to those that it starts is forbidden to itself, for good.
tl::expected<Started, int> started(const Start& start) {
  if (start.affinity == OwnAffinity::granted)
    return started_by_this_thread(start);
  tl::expected<Started, int> one;
  std::thread([&] { one = started_by_this_thread(start); }).join();
  return one;
}

// Waits for its end.
tl::expected<MeasuredRun, int> result_of(const Started& started) {
  int status = 0;
  rusage usage{};
  while (::wait4(started.pid, &status, 0, &usage) < 0) {
    if (errno != EINTR)
      return tl::unexpected(errno);
  }
  MeasuredRun run;
  run.elapsed = Nanoseconds{monotonic_ns() - started.at_ns};
  run.cpu_time = nanoseconds_of(usage.ru_utime) + nanoseconds_of(usage.ru_stime);
  constexpr std::uint64_t block_bytes = 512;
  run.read_from_disk = static_cast<std::uint64_t>(usage.ru_inblock) * block_bytes;
  run.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return run;
}

// It is there still, to be waited for, so that nobody else has its number.
bool has_ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid != 0;
}

// How often threads are looked at: about as often as they take turns, and no more than a part of the time.
constexpr std::chrono::milliseconds shortest_pause{3};
constexpr int looks_to_a_pause = 20;

constexpr std::chrono::seconds time_to_end{5};  // for those that are asked to

// Until all have ended, each in a process group of its own, so that what one has started ends with it.
void have_few_at_once(const std::vector<Started>& copies, std::uint32_t as_if_on,
                      Nanoseconds patience) {
  using Clock = std::chrono::steady_clock;
  std::list<FewerAtOnce> fewer;
  for (const Started& copy : copies)
    fewer.emplace_back(copy.pid, as_if_on);
  const auto tell = [&](int signal) {
    for (const FewerAtOnce& copy : fewer)
      ::kill(-copy.process(), signal);
  };
  Clock::time_point last = Clock::now() + patience;
  bool is_asked_to_end = false;
  for (;;) {
    const Clock::time_point look = Clock::now();
    bool goes_on = false;
    for (FewerAtOnce& copy : fewer) {
      if (!has_ended(copy.process())) {
        goes_on = true;
        copy.look();
      }
    }
    if (!goes_on)
      return;
    if (StopSignals::has_come() && !std::exchange(is_asked_to_end, true)) {
      tell(SIGTERM);
      last = std::min(last, look + time_to_end);
    }
    if (look >= last)
      tell(SIGKILL);
    std::this_thread::sleep_for(
        std::max<Clock::duration>(shortest_pause, looks_to_a_pause * (Clock::now() - look)));
  }
}

}  // namespace

Expected<MeasuredRun> run_measured(const std::filesystem::path& program,
                                   const std::vector<std::string>& arguments,
                                   const std::vector<std::uint32_t>& cpus, Nanoseconds slice,
                                   OwnAffinity affinity) {
  const std::string what = fmt::format("cannot run {}", program.string());
  const StopSignals signals;
  const CpuUse before = cpu_use(cpus);
  const auto program_started = started({program, arguments, cpus, slice, Group::ours, affinity});
  if (!program_started)
    return failure(what, std::strerror(program_started.error()));
  StopSignals::begin_program(program_started->pid);
  auto run = result_of(*program_started);
  StopSignals::end_program();
  if (!run)
    return failure(what, std::strerror(run.error()));
  const CpuUse after = cpu_use(cpus);
  run->others = std::max(Nanoseconds{}, after.busy - before.busy - run->cpu_time);
  run->stolen = after.stolen - before.stolen;
  return *run;
}

Expected<std::vector<MeasuredRun>> run_copies(const std::filesystem::path& program,
                                              const std::vector<std::string>& arguments,
                                              const std::vector<std::uint32_t>& cpus,
                                              std::uint32_t as_if_on, Nanoseconds patience,
                                              OwnAffinity affinity) {
  const StopSignals signals;
  std::vector<Started> copies;
  int error = 0;
  for (const std::uint32_t cpu : cpus) {
    const auto copy = started({program, arguments, {cpu}, {}, Group::its_own, affinity});
    if (!copy) {
      error = copy.error();
      break;
    }
    copies.push_back(*copy);
  }
  have_few_at_once(copies, as_if_on, error == 0 ? patience : Nanoseconds{});
  std::vector<MeasuredRun> runs;
  for (const Started& copy : copies) {
    const auto run = result_of(copy);
    if (run)
      runs.push_back(*run);
    else
      error = run.error();
  }
  if (error != 0)
    return failure(fmt::format("cannot run {}", program.string()), std::strerror(error));
  return runs;
}

bool left_its_cpus(const MeasuredRun& run, std::size_t cpus) {
  // Times are those of two clocks.
  constexpr double more_than_all = 1.01;
  return static_cast<double>(run.cpu_time.count()) >
         more_than_all * static_cast<double>(run.elapsed.count()) * static_cast<double>(cpus);
}

std::vector<std::uint32_t> usable_cpus_cores_first() {
  // A CPU is the n-th of its core when n others of that core come before it.
  std::map<std::string, std::uint32_t> seen;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
  for (const std::uint32_t cpu : usable_cpus()) {
    std::string core = read_special_file(
        fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    if (core.empty())
      core = fmt::format("cpu {}", cpu);  // a machine that does not say
    order.emplace_back(seen[core]++, cpu);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::uint32_t> cpus;
  for (const auto& [nth, cpu] : order)
    cpus.push_back(cpu);
  return cpus;
}

}  // namespace longpole::recording
