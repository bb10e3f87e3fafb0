#include "process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "chunk.h"
#include "function_hooks.h"
#include "lockstep.h"
#include "next_definition.h"
#include "sampling.h"
#include "system_calls.h"
#include "thread_log.h"

extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* object);

namespace longpole::recorder {

namespace {

constinit const std::atomic<Mode> kNotStarted{Mode::kOff};

std::atomic<Mode>* mode_page = nullptr;
longpole_control* mapped_control = nullptr;

char events_path[PATH_MAX];
int kept_descriptor = -1;
struct FileIdentity {
  unsigned long device;
  unsigned long inode;
};
FileIdentity events_identity;

// The first two members of the kernel's struct stat, on every architecture that we record on. fstat
// itself has a version of its own from glibc 2.33 on.
FileIdentity identity_of(int descriptor) {
  union {
    FileIdentity identity;
    char whole[256];
  } status{};
  return syscall(SYS_fstat, descriptor, &status) == 0 ? status.identity : FileIdentity{};
}

bool is_events_file(int descriptor) {
  const FileIdentity identity = identity_of(descriptor);
  return identity.inode == events_identity.inode && identity.device == events_identity.device;
}

// Out of the way of programs that expect the lowest numbers for themselves.
int move_up(int descriptor) {
  constexpr int kHigh = 1000;
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, kHigh);
  if (high < 0) {
    return descriptor;
  }
  next().close(descriptor);
  return high;
}

void join_path(char (&path)[PATH_MAX], const char* directory, const char* name) {
  const std::size_t length = std::strlen(directory);
  std::memcpy(path, directory, length);
  path[length] = '/';
  std::memcpy(path + length + 1, name, std::strlen(name) + 1);
}

bool open_run_directory(const char* directory) {
  char path[PATH_MAX];
  if (std::strlen(directory) + sizeof("/control") > PATH_MAX) {
    return false;
  }
  join_path(path, directory, "control");
  join_path(events_path, directory, "events");
  const int descriptor = next().open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    return false;
  }
  // A shorter file would be a SIGBUS.
  const bool whole = lseek(descriptor, 0, SEEK_END) >= static_cast<off_t>(sizeof(longpole_control));
  void* mapping = whole ? mmap(nullptr, sizeof(longpole_control), PROT_READ | PROT_WRITE,
                               MAP_SHARED, descriptor, 0)
                        : MAP_FAILED;
  next().close(descriptor);
  if (mapping == MAP_FAILED) {
    return false;
  }
  auto* candidate = static_cast<longpole_control*>(mapping);
  std::int32_t unclaimed = 0;
  if (candidate->magic != LONGPOLE_CONTROL_MAGIC || candidate->version != LONGPOLE_RAW_VERSION ||
      !__atomic_compare_exchange_n(&candidate->pid, &unclaimed, getpid(), false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    munmap(mapping, sizeof(longpole_control));
    return false;
  }
  mapped_control = candidate;
  kept_descriptor = next().open(events_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (kept_descriptor < 0) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
    return false;
  }
  kept_descriptor = move_up(kept_descriptor);
  events_identity = identity_of(kept_descriptor);
  return true;
}

// Drops the entries of LD_PRELOAD that name this library and keeps those of the user.
void leave_environment() {
  unsetenv(LONGPOLE_DIRECTORY_VARIABLE);
  char* list = getenv("LD_PRELOAD");
  if (list == nullptr) {
    return;
  }
  constexpr char kSeparators[] = ": ";
  constexpr char kOwnName[] = "liblongpole-recorder.so";
  constexpr std::size_t kOwnLength = sizeof(kOwnName) - 1;
  char* kept_end = list;
  for (const char* entry = list; *entry != '\0';) {
    const std::size_t length = std::strcspn(entry, kSeparators);
    const bool own = length >= kOwnLength &&
                     std::strncmp(entry + length - kOwnLength, kOwnName, kOwnLength) == 0;
    const char separator = entry[length];
    if (length > 0 && !own) {
      if (kept_end != list) {
        *kept_end++ = ':';
      }
      std::memmove(kept_end, entry, length);
      kept_end += length;
    }
    entry += length + (separator != '\0' ? 1 : 0);
  }
  *kept_end = '\0';
  if (kept_end == list) {
    unsetenv("LD_PRELOAD");
  }
}

std::int64_t monotonic_now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The tightest of a hundred brackets: an interrupt within one would shift every stamp.
longpole_clock_pair read_clock_pair() {
  longpole_clock_pair best{};
  std::int64_t best_width = INT64_MAX;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t before = monotonic_now();
    const std::uint64_t tsc = stamp_after_acquisition();
    const std::int64_t after = monotonic_now();
    if (after - before < best_width) {
      best_width = after - before;
      best = {tsc, before + (after - before) / 2};
    }
  }
  return best;
}

// Fills a scratch chunk several times and takes the fastest: the cost of one record.
constexpr std::uintptr_t kScratchRecords = (kChunkBytes - kFirstSlot) / sizeof(longpole_record);

template <typename WriteRecords>
std::uint64_t measure_cost_ps(WriteRecords write_records) {
  constexpr int kBatches = 8;
  constexpr std::size_t kReserved = 2 * kChunkBytes;
  void* scratch =
      mmap(nullptr, kReserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (scratch == MAP_FAILED) {
    return 0;
  }
  const std::uintptr_t chunk =
      (reinterpret_cast<std::uintptr_t>(scratch) + kPlaceMask) & ~kPlaceMask;
  std::int64_t best = INT64_MAX;
  for (int batch = 0; batch < kBatches; ++batch) {
    thread_log.next_slot = chunk + kFirstSlot;
    const std::int64_t before = monotonic_now();
    write_records();
    const std::int64_t elapsed = monotonic_now() - before;
    best = elapsed < best ? elapsed : best;
  }
  thread_log.next_slot = 0;
  munmap(scratch, kReserved);
  return static_cast<std::uint64_t>(best) * 1000 / kScratchRecords;
}

// Runs after the program's own exit handlers and every library's destructors: it was registered
// before all of them.
void on_process_end(void* /*unused*/) {
  if (recording()) {
    end_thread_log();
  }
}

void switch_off_in_child() {
  mode_page->store(Mode::kOff, std::memory_order_relaxed);
}

// A page that reads as zero in every child. Where the kernel cannot do that (before 4.14), fork()
// at least is seen.
bool make_mode_page() {
  const long page_bytes = next().sysconf(_SC_PAGESIZE);
  const auto bytes = static_cast<std::size_t>(page_bytes);
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return false;
  }
  mode_page = new (page) std::atomic<Mode>(Mode::kOff);
  return madvise(page, bytes, MADV_WIPEONFORK) == 0 ||
         pthread_atfork(nullptr, nullptr, &switch_off_in_child) == 0;
}

Mode chosen_mode() {
  longpole_control& control = *mapped_control;
  if (control.cpu_clock != LONGPOLE_CPU_CLOCK_THREAD) {
    return Mode::kKernelClock;
  }
  if (control.lockstep_cpus != 0 && !lockstep::prepare()) {
    control.lockstep_cpus = 0;
  }
  return control.lockstep_cpus != 0 ? Mode::kLockstep : Mode::kThreadClock;
}

std::uint32_t cpus_to_tell = 0;
bool constructor_ran = false;

void start() {
  if (mapped_control != nullptr || !resolve_next_definitions()) {
    return;
  }
  prepare_system_calls();
  const char* directory = getenv(LONGPOLE_DIRECTORY_VARIABLE);
  if (directory == nullptr || directory[0] != '/' || !open_run_directory(directory)) {
    return;
  }
  leave_environment();
  cpus_to_tell = mapped_control->told_cpus;
  if (!make_mode_page() || !prepare_thread_logs()) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
    return;
  }
  mode_page->store(chosen_mode(), std::memory_order_relaxed);
  recording_mode = mode_page;
  mapped_control->cost_ps = measure_cost_ps([] {
    for (std::uintptr_t i = 0; i < kScratchRecords; ++i) {
      record_acquired({LONGPOLE_MUTEX_LOCK, &thread_log, &thread_log}, 0);
    }
  });
  if (mapped_control->function_depth != 0) {
    set_function_depth(mapped_control->function_depth);
    mapped_control->function_cost_ps =
        measure_cost_ps([] { enter_and_leave(kScratchRecords / 2); });
  }
  prepare_sampling();
  __cxa_atexit(&on_process_end, nullptr, nullptr);
  mapped_control->start = read_clock_pair();
  const SignalsBlocked blocked;
  register_thread();
}

__attribute__((constructor)) void construct() {
  start();
  constructor_ran = true;
}

}  // namespace

const std::atomic<Mode>* recording_mode = &kNotStarted;

// Earlier callers, sanitizers above all, may find the process without an environment.
std::uint32_t told_cpus() {
  if (!constructor_ran) [[unlikely]] {
    start();
  }
  return cpus_to_tell;
}

longpole_control& control() {
  return *mapped_control;
}

int events_descriptor() {
  int descriptor = __atomic_load_n(&kept_descriptor, __ATOMIC_RELAXED);
  if (!is_events_file(descriptor)) {
    descriptor = next().open(events_path, O_RDWR | O_CLOEXEC);
    if (descriptor >= 0) {
      descriptor = move_up(descriptor);
    }
    __atomic_store_n(&kept_descriptor, descriptor, __ATOMIC_RELAXED);
  }
  return descriptor;
}

void stop_recording(longpole_stop_reason reason, int error) {
  if (mode_page != nullptr) {
    mode_page->store(Mode::kOff, std::memory_order_relaxed);
  }
  std::uint32_t none = LONGPOLE_STOP_NONE;
  if (__atomic_compare_exchange_n(&mapped_control->stop_reason, &none,
                                  static_cast<std::uint32_t>(reason), false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED)) {
    mapped_control->stop_errno = static_cast<std::uint32_t>(error);
  }
}

}  // namespace longpole::recorder
