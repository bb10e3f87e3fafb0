#include "run_directory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "next_definition.h"

namespace longpole::recorder {

namespace {

using Path = char[PATH_MAX];

Path run_directory;  // the launcher's
Path own_directory;
longpole_control* first_control = nullptr;

int kept_descriptor = -1;
struct FileIdentity {
  std::uint64_t device;
  std::uint64_t inode;
};
FileIdentity events_identity;

// By statx(), of which the inode is asked alone: where somebody has seen when a file was changed, the kernel notes with the next
// write to it that it was changed since, which takes a tenth of that write. Where that is refused (kernels before 4.11, some
// containers) by fstat, whose first two members these are on every architecture that we record on. fstat itself has a version
// of its own from glibc 2.33 on.
FileIdentity identity_of(int descriptor) {
  struct statx status {};
  if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_INO, &status) == 0) {
    return {std::uint64_t{status.stx_dev_major} << 32 | status.stx_dev_minor, status.stx_ino};
  }
  union {
    struct {
      unsigned long device;
      unsigned long inode;
    } first;
    char whole[256];
  } older{};
  if (errno == EBADF || syscall(SYS_fstat, descriptor, &older) != 0) {
    return {};
  }
  const dev_t device = older.first.device;
  return {std::uint64_t{major(device)} << 32 | minor(device), older.first.inode};
}

bool is_events_file(int descriptor) {
  const FileIdentity identity = identity_of(descriptor);
  return identity.inode == events_identity.inode && identity.device == events_identity.device;
}

// Out of the way of programs that expect the lowest numbers for themselves.
int move_up(int descriptor) {
  constexpr int kHigh = 1000;
  const int high = next().fcntl(descriptor, F_DUPFD_CLOEXEC, kHigh);
  if (high < 0) {
    return descriptor;
  }
  next().close(descriptor);
  return high;
}

void append(Path& path, const char* text) {
  std::strcpy(path + std::strlen(path), text);
}

// That there is room was seen when the directory was claimed.
constexpr std::size_t kLongestBelow = sizeof("/child.4294967295/launches");

int open_in(const Path& directory, const char* name, int flags) {
  Path path;
  std::strcpy(path, directory);
  append(path, name);
  return next().open(path, flags | O_CLOEXEC, 0600);
}

longpole_control* map_control(int descriptor) {
  // A shorter file would be a SIGBUS.
  const bool whole = lseek(descriptor, 0, SEEK_END) >= static_cast<off_t>(sizeof(longpole_control));
  void* mapping = whole ? mmap(nullptr, sizeof(longpole_control), PROT_READ | PROT_WRITE,
                               MAP_SHARED, descriptor, 0)
                        : MAP_FAILED;
  next().close(descriptor);
  return mapping != MAP_FAILED ? static_cast<longpole_control*>(mapping) : nullptr;
}

void name_own_directory(std::uint32_t child) {
  char digits[11];
  char* first = digits + sizeof(digits) - 1;
  *first = '\0';
  do {
    *--first = static_cast<char>('0' + child % 10);
    child /= 10;
  } while (child != 0);
  std::strcpy(own_directory, run_directory);
  append(own_directory, "/child.");
  append(own_directory, first);
}

bool append_to(int file, const void* data, std::size_t bytes) {
  const off_t end = lseek(file, 0, SEEK_END);
  return end >= 0 && file_may_reach(static_cast<std::uint64_t>(end) + bytes) &&
         next().write(file, data, bytes) == static_cast<ssize_t>(bytes);
}

void copy(const char* from, int to) {
  char buffer[4096];
  const int descriptor = next().open(from, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return;
  }
  for (ssize_t got; (got = next().read(descriptor, buffer, sizeof(buffer))) > 0;) {
    if (!append_to(to, buffer, static_cast<std::size_t>(got))) {
      break;
    }
  }
  next().close(descriptor);
}

}  // namespace

bool file_may_reach(std::uint64_t bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

longpole_control* claim_run_directory(const char* directory) {
  if (std::strlen(directory) + kLongestBelow > sizeof(run_directory)) {
    return nullptr;
  }
  std::strcpy(run_directory, directory);
  const int descriptor = open_in(run_directory, "/control", O_RDWR);
  longpole_control* control = descriptor >= 0 ? map_control(descriptor) : nullptr;
  if (control == nullptr) {
    return nullptr;
  }
  if (control->magic == LONGPOLE_CONTROL_MAGIC && control->version != LONGPOLE_RAW_VERSION) {
    control->version = LONGPOLE_RAW_VERSION;  // for a sentence about it
  } else if (control->magic == LONGPOLE_CONTROL_MAGIC) {
    first_control = control;
    std::int32_t unclaimed = 0;
    if (__atomic_compare_exchange_n(&control->pid, &unclaimed, getpid(), false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
      std::strcpy(own_directory, directory);
      return control;
    }
    if (control->follow != 0) {
      return claim_directory_of_child(LONGPOLE_BEGINNING_EXEC);
    }
  }
  munmap(control, sizeof(longpole_control));
  return nullptr;
}

longpole_control* claim_directory_of_child(longpole_beginning beginning) {
  const longpole_control& first = *first_control;
  const std::uint32_t before = __atomic_fetch_add(&first_control->next_child, 1, __ATOMIC_RELAXED);
  if (before >= LONGPOLE_MOST_CHILDREN) {
    return nullptr;
  }
  name_own_directory(before + 1);
  const int descriptor = mkdir(own_directory, 0700) == 0
                             ? open_in(own_directory, "/control", O_RDWR | O_CREAT | O_EXCL)
                             : -1;
  if (descriptor < 0) {
    return nullptr;
  }
  if (!file_may_reach(sizeof(longpole_control)) ||
      posix_fallocate(descriptor, 0, sizeof(longpole_control)) != 0) {
    next().close(descriptor);
    return nullptr;
  }
  longpole_control* control = map_control(descriptor);
  if (control == nullptr) {
    return nullptr;
  }
  control->magic = LONGPOLE_CONTROL_MAGIC;
  control->version = LONGPOLE_RAW_VERSION;
  control->cpu_clock = first.cpu_clock;
  control->sample_hz = first.sample_hz;
  control->told_cpus = first.told_cpus;
  control->max_units = first.max_units;
  control->cost_ps = first.cost_ps;
  control->hidden_ps = first.hidden_ps;
  // With the weight of one measurement, for there may be thousands. While others add to it: the two need not belong together.
  const auto times =
      static_cast<std::int64_t>(__atomic_load_n(&first.exposed_times, __ATOMIC_RELAXED));
  control->exposed_ps =
      times > 0 ? __atomic_load_n(&first.exposed_ps, __ATOMIC_RELAXED) / times : 0;
  control->exposed_times = times > 0 ? 1 : 0;
  control->wait_cost_ps = first.wait_cost_ps;
  control->interruptible_cost_ps = first.interruptible_cost_ps;
  control->kernel_entry_cost_ps = first.kernel_entry_cost_ps;
  control->function_cost_ps = first.function_cost_ps;
  control->function_depth = first.function_depth;
  control->follow = first.follow;
  control->one_cpu = first.one_cpu;
  control->beginning = beginning;
  control->parent = getppid();
  control->pid = getpid();
  return control;
}

bool open_events() {
  if (kept_descriptor >= 0 && is_events_file(kept_descriptor)) {
    next().close(kept_descriptor);  // of the process that this one was forked from
  }
  kept_descriptor = open_in(own_directory, "/events", O_RDWR | O_CREAT);
  if (kept_descriptor < 0) {
    return false;
  }
  kept_descriptor = move_up(kept_descriptor);
  events_identity = identity_of(kept_descriptor);
  return true;
}

int events_descriptor() {
  int descriptor = __atomic_load_n(&kept_descriptor, __ATOMIC_RELAXED);
  if (!is_events_file(descriptor)) {
    descriptor = open_in(own_directory, "/events", O_RDWR);
    if (descriptor >= 0) {
      descriptor = move_up(descriptor);
    }
    __atomic_store_n(&kept_descriptor, descriptor, __ATOMIC_RELAXED);
  }
  return descriptor;
}

void describe_process() {
  const int file = open_in(own_directory, "/command", O_WRONLY | O_CREAT);
  if (file < 0) {
    return;
  }
  for (const char* link : {"/proc/self/exe", "/proc/self/cwd"}) {
    Path target;
    const ssize_t length = readlink(link, target, sizeof(target) - 1);
    target[length > 0 ? length : 0] = '\0';
    if (!append_to(file, target, std::strlen(target) + 1)) {
      break;
    }
  }
  copy("/proc/self/cmdline", file);
  next().close(file);
}

void describe_mappings() {
  const int file = open_in(own_directory, "/maps", O_WRONLY | O_CREAT | O_APPEND);
  if (file >= 0) {
    copy("/proc/self/maps", file);
    next().close(file);
  }
}

void note_launch(pid_t pid, const char* program, bool failed) {
  longpole_launch launch{};
  launch.pid = pid;
  launch.failed = failed ? 1 : 0;
  if (program != nullptr) {  // the kernel refuses that
    std::strncpy(launch.program, program, sizeof(launch.program) - 1);
  }
  const int file = open_in(run_directory, "/launches", O_WRONLY | O_CREAT | O_APPEND);
  if (file >= 0) {
    append_to(file, &launch, sizeof(launch));
    next().close(file);
  }
}

}  // namespace longpole::recorder
