#include "recording/system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <map>
#include <sstream>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace longpole::recording {
namespace {

// As many CPUs as the kernel can be built for; sched_getaffinity refuses smaller sets with EINVAL.
constexpr std::size_t max_cpus = 8192;
using CpuSet = std::array<cpu_set_t, max_cpus / CPU_SETSIZE>;

std::uint64_t time_stamp() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  std::uint64_t value = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

// Idle time of each CPU so far, in clock ticks.
std::map<std::uint32_t, std::uint64_t> idle_ticks() {
  std::map<std::uint32_t, std::uint64_t> idle;
  std::istringstream in(read_special_file("/proc/stat"));
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name;
    std::uint64_t user = 0;
    std::uint64_t nice = 0;
    std::uint64_t system = 0;
    std::uint64_t idle_time = 0;
    std::uint64_t io_wait = 0;
    if (fields >> name >> user >> nice >> system >> idle_time >> io_wait &&
        name.starts_with("cpu") && name.size() > 3)
      idle[static_cast<std::uint32_t>(std::stoul(name.substr(3)))] = idle_time + io_wait;
  }
  return idle;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || status.st_size <= 0)
    return;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED)
    return;
  data_ = static_cast<const std::uint8_t*>(data);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr)
    ::munmap(const_cast<std::uint8_t*>(data_), size_);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void outlive_file_limits() {
  struct sigaction action {};
  if (::sigaction(SIGXFSZ, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
    action.sa_handler = [](int) {};
    ::sigaction(SIGXFSZ, &action, nullptr);
  }
}

int open_pidfd(pid_t pid) {
  // pidfd_open keeps its close-on-exec flag set.
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

std::string read_special_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string content;
  std::array<char, 16384> buffer{};
  for (ssize_t size = 0; file && (size = ::read(file.get(), buffer.data(), buffer.size())) > 0;)
    content.append(buffer.data(), static_cast<std::size_t>(size));
  return content;
}

namespace {

std::optional<TaskTimes> times_of_task(const std::filesystem::path& task) {
  constexpr int most_looks = 5;
  constexpr std::int64_t long_look_ns = 500'000;
  std::string text;
  std::int64_t time = 0;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (int look = 0; look < most_looks && shortest > long_look_ns; ++look) {
    const std::int64_t before = monotonic_ns();
    std::string seen = read_special_file(task / "schedstat");
    const std::int64_t after = monotonic_ns();
    if (seen.empty())
      break;  // it has ended
    if (after - before < shortest) {
      shortest = after - before;
      text = std::move(seen);
      time = after;
    }
  }
  std::istringstream fields(text);
  std::int64_t used = 0;
  std::int64_t waited = 0;
  if (!(fields >> used >> waited))
    return std::nullopt;
  return TaskTimes{std::stoi(task.filename().string()), Nanoseconds{used}, Nanoseconds{waited},
                   time};
}

}  // namespace

std::vector<TaskTimes> task_times(pid_t process) {
  std::vector<TaskTimes> out;
  std::error_code error;
  for (std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", process), error), end;
       !error && task != end; task.increment(error)) {
    if (const std::optional<TaskTimes> times = times_of_task(task->path()))
      out.push_back(*times);
  }
  return out;
}

bool write_all(int fd, const void* bytes, std::size_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(fd, next, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    next += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

ClockPair read_clock_pair() {
  ClockPair best;
  std::int64_t best_gap = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 100; ++i) {
    const std::int64_t before = monotonic_ns();
    const std::uint64_t tsc = time_stamp();
    const std::int64_t after = monotonic_ns();
    if (after - before < best_gap) {
      best_gap = after - before;
      best = {tsc, before + (after - before) / 2};
    }
  }
  return best;
}

std::vector<std::uint32_t> usable_cpus() {
  CpuSet set{};
  std::vector<std::uint32_t> cpus;
  if (::sched_getaffinity(0, sizeof set, set.data()) == 0)
    for (std::uint32_t cpu = 0; cpu < max_cpus; ++cpu)
      if (CPU_ISSET_S(cpu, sizeof set, set.data()))
        cpus.push_back(cpu);
  if (cpus.empty())
    cpus.push_back(0);
  return cpus;
}

std::uint32_t idlest_cpu(const std::vector<std::uint32_t>& cpus) {
  if (cpus.size() == 1)
    return cpus.front();
  // A few ticks of the kernel's accounting: enough to tell a busy CPU from an idle one.
  constexpr timespec while_watching{0, 50'000'000};
  std::map<std::uint32_t, std::uint64_t> before = idle_ticks();
  ::nanosleep(&while_watching, nullptr);
  std::map<std::uint32_t, std::uint64_t> after = idle_ticks();
  // From the last: the first CPUs are where interrupts usually go.
  return *std::max_element(cpus.rbegin(), cpus.rend(), [&](std::uint32_t a, std::uint32_t b) {
    return after[a] - before[a] < after[b] - before[b];
  });
}

void run_on(const std::vector<std::uint32_t>& cpus) {
  CpuSet set{};
  for (const std::uint32_t cpu : cpus)
    CPU_SET_S(cpu, sizeof set, set.data());
  static_cast<void>(::sched_setaffinity(0, sizeof set, set.data()));
}

Nanoseconds nanoseconds_of(const timeval& time) {
  return Nanoseconds{(std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec) * 1000};
}

Nanoseconds own_cpu_time() {
  Nanoseconds sum{};
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    ::getrusage(who, &used);
    sum += nanoseconds_of(used.ru_utime) + nanoseconds_of(used.ru_stime);
  }
  return sum;
}

CpuUse cpu_use(const std::vector<std::uint32_t>& cpus) {
  std::istringstream in(read_special_file("/proc/stat"));
  CpuUse use;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name;
    fields >> name;
    const bool wanted = std::any_of(cpus.begin(), cpus.end(), [&](std::uint32_t cpu) {
      return name == fmt::format("cpu{}", cpu);
    });
    if (!wanted)
      continue;
    // user, nice, system, idle, iowait, irq, softirq, steal; what follows is in these already.
    constexpr int idle = 3;
    constexpr int waiting = 4;
    constexpr int stolen = 7;
    std::int64_t value = 0;
    for (int field = 0; field <= stolen && fields >> value; ++field) {
      if (field != idle && field != waiting)
        (field == stolen ? use.stolen : use.busy) += value * cpu_use_step;
    }
  }
  return use;
}

}  // namespace longpole::recording
