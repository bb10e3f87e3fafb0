#include "process.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "chunk.h"
#include "function_hooks.h"
#include "lockstep.h"
#include "measured_costs.h"
#include "next_definition.h"
#include "own_signals.h"
#include "run_directory.h"
#include "sampling.h"
#include "stack_room.h"
#include "system_calls.h"
#include "thread_log.h"

extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* object);

namespace longpole::recorder {

namespace {

constinit const RecordingState kNotStarted{Mode::kOff, false};

RecordingState* state_page = nullptr;
longpole_control* mapped_control = nullptr;

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

std::uint64_t process_cpu_time() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// Runs after the program's own exit handlers and every library's destructors: it was registered
// before all of them.
void on_process_end(void* /*unused*/) {
  if (recording()) {
    // The end is not before the last record: who is cut short there would seem to have ended before.
    end_thread_log(true);
    mark_ending(LONGPOLE_ENDING_EXIT);
  }
}

void on_quick_exit() {
  mark_ending(LONGPOLE_ENDING_EXIT);
}

void go_on_in_child();

// A page that reads as zero in every child. Where the kernel cannot do that (before 4.14), fork()
// at least is seen.
bool make_state_page() {
  const long page_bytes = next().sysconf(_SC_PAGESIZE);
  const auto bytes = static_cast<std::size_t>(page_bytes);
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return false;
  }
  state_page = new (page) RecordingState{Mode::kOff, false};
  const bool wiped = madvise(page, bytes, MADV_WIPEONFORK) == 0;
  return (wiped && mapped_control->follow == 0) ||
         pthread_atfork(nullptr, nullptr, &go_on_in_child) == 0;
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

void switch_on() {
  state_page->on_one_cpu = mapped_control->one_cpu != 0;
  state_page->mode.store(chosen_mode(), std::memory_order_relaxed);
}

std::uint32_t cpus_to_tell = 0;
bool constructor_ran = false;
pid_t starter = 0;  // the thread that is in start()

pid_t this_thread() {
  return static_cast<pid_t>(syscall(SYS_gettid));
}

// Others do not wait for ever: for a thread that fork() has not taken along, say.
void wait_for_starter() {
  constexpr int kPatience = 20'000;
  constexpr timespec kShortly{0, 100'000};
  const pid_t self = this_thread();
  for (int i = 0; i < kPatience; ++i) {
    const pid_t other = __atomic_load_n(&starter, __ATOMIC_ACQUIRE);
    if (other == 0 || other == self) {
      return;
    }
    next().nanosleep(&kShortly, nullptr);
  }
}

// One at a time, and in none that is in the middle of it.
class Starter {
 public:
  Starter() {
    wait_for_starter();
    pid_t nobody = 0;
    is_ours_ = __atomic_compare_exchange_n(&starter, &nobody, this_thread(), false,
                                           __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  }
  ~Starter() {
    if (is_ours_) {
      __atomic_store_n(&starter, 0, __ATOMIC_RELEASE);
    }
  }
  Starter(const Starter&) = delete;
  Starter& operator=(const Starter&) = delete;
  [[nodiscard]] bool is_ours() const { return is_ours_; }

 private:
  bool is_ours_;
};

// Whichever thread it is that starts the recording.
std::uint64_t cpu_time_of_first_thread() {
  timespec time{};
  clock_gettime(cpu_clock_of(getpid()), &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// Signals must be blocked.
void begin_recording() {
  longpole_control& control = *mapped_control;
  if (control.parent != 0) {
    describe_process();
  }
  // The launcher looks at them from time to time, and may come too late for a process that is short.
  describe_mappings();
  control.start = read_clock_pair();
  control.start_thread_cpu_ns = cpu_time_of_first_thread();
  control.start_process_cpu_ns = process_cpu_time();
  register_thread();
}

// After fork(): the child has the memory of a process that records, of which nothing but the forking
// thread and what this library mapped is left.
void go_on_in_child() {
  state_page->mode.store(Mode::kOff, std::memory_order_relaxed);
  if (mapped_control->follow == 0 || mapped_control->stop_reason != LONGPOLE_STOP_NONE) {
    return;
  }
  const SignalsBlocked blocked;
  forget_thread_log();
  forget_free_chunks();
  forget_functions();
  forget_timers();
  longpole_control* own = claim_directory_of_child(LONGPOLE_BEGINNING_FORK);
  if (own == nullptr) {
    return;
  }
  mapped_control = own;
  if (!open_events()) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
    return;
  }
  switch_on();
  begin_recording();
}

void start() {
  const std::uint64_t begin = stamp();
  const Starter only;
  if (!only.is_ours() || mapped_control != nullptr || !resolve_next_definitions()) {
    return;
  }
  prepare_system_calls();
  const char* directory = getenv(LONGPOLE_DIRECTORY_VARIABLE);
  mapped_control =
      directory != nullptr && directory[0] == '/' ? claim_run_directory(directory) : nullptr;
  if (mapped_control == nullptr) {
    return;
  }
  if (!open_events()) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
    return;
  }
  if (mapped_control->follow == 0) {
    leave_environment();
  }
  cpus_to_tell = mapped_control->told_cpus;
  if (!make_state_page() || !prepare_thread_logs()) {
    stop_recording(LONGPOLE_STOP_NO_MAPPING, errno);
    return;
  }
  switch_on();
  recording_state = state_page;
  set_function_depth(mapped_control->function_depth);
  make_room_on_default_stacks();
  prepare_sampling();
  if (mapped_control->cost_ps == 0) {  // else another process has measured it
    const Mode chosen = mode();
    state_page->mode.store(in_lockstep() ? Mode::kThreadClock : chosen, std::memory_order_relaxed);
    measure_costs(*mapped_control);
    state_page->mode.store(chosen, std::memory_order_relaxed);
  }
  __cxa_atexit(&on_process_end, nullptr, nullptr);
  if (mapped_control->follow != 0) {
    at_quick_exit(&on_quick_exit);
  }
  const SignalsBlocked blocked;
  begin_recording();
  record_overhead(begin);
}

__attribute__((constructor)) void construct() {
  start();
  constructor_ran = true;
  // Where a thread of a library has started the recording.
  if (recording() && thread_log.state == ThreadLog::State::kUnknown) {
    const SignalsBlocked blocked;
    register_thread();
  }
}

}  // namespace

const RecordingState* recording_state = &kNotStarted;

void wait_for_start() {
  if (__atomic_load_n(&starter, __ATOMIC_ACQUIRE) != 0) [[unlikely]] {
    wait_for_starter();
  }
}

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

bool follows_children() {
  return recording() && mapped_control->follow != 0;
}

void mark_ending(longpole_ending ending, const char* becomes) {
  // A child of vfork() shares our memory, and this end is not ours. The launcher sees its own child exit.
  if (!recording() || mapped_control->pid != getpid() ||
      (ending == LONGPOLE_ENDING_EXIT && mapped_control->follow == 0)) {
    return;
  }
  longpole_control& control = *mapped_control;
  if (ending != LONGPOLE_ENDING_UNKNOWN) {
    describe_mappings();
    control.end_process_cpu_ns = process_cpu_time();
    control.end = read_clock_pair();
    if (becomes != nullptr) {  // the kernel refuses that
      std::strncpy(control.becomes, becomes, sizeof(control.becomes) - 1);
    }
  }
  __atomic_store_n(&control.ending, static_cast<std::uint32_t>(ending), __ATOMIC_RELEASE);
}

void stop_recording(longpole_stop_reason reason, int error) {
  if (state_page != nullptr) {
    state_page->mode.store(Mode::kOff, std::memory_order_relaxed);
  }
  std::uint32_t none = LONGPOLE_STOP_NONE;
  if (__atomic_compare_exchange_n(&mapped_control->stop_reason, &none,
                                  static_cast<std::uint32_t>(reason), false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED)) {
    mapped_control->stop_errno = static_cast<std::uint32_t>(error);
  }
}

}  // namespace longpole::recorder
