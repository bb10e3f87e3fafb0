#include "sampling.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "chunk.h"
#include "next_definition.h"
#include "own_signals.h"
#include "process.h"
#include "program_memory.h"
#include "thread_log.h"

namespace longpole::recorder {

namespace {

int sampling_signal = 0;  // 0: no samples are taken
std::int64_t period_ns = 0;
std::int64_t tick_ns = 0;  // of the kernel, at which alone timers expire

std::uint64_t bit_of(int signal) {
  return std::uint64_t{1} << (signal - 1);
}

// The return address of the frame that was interrupted, as its frame pointer has it; 0 when what
// the register holds cannot be one. Code without frame pointers may leave anything there: the kernel
// reads it, so that nothing can fault.
std::uint64_t caller_of(std::uintptr_t stack_pointer, std::uintptr_t frame_pointer) {
  constexpr std::uintptr_t kLongestFrame = 1u << 20;
  if (frame_pointer < stack_pointer || frame_pointer - stack_pointer > kLongestFrame ||
      frame_pointer % sizeof(void*) != 0) {
    return 0;
  }
  std::uint64_t address = 0;
  const bool is_there =
      read_memory(frame_pointer + sizeof(void*), &address, sizeof(address)) == sizeof(address);
  return is_there ? address : 0;
}

// What the calling thread has blocked for the call that it is in; 0: nothing. One that a longjmp left behind may be there
// still.
__thread volatile int held_signal __attribute__((tls_model("initial-exec"))) = 0;

std::uint64_t given_back = 0;  // the signals that were ours

bool interrupts_calls(int signal) {
  struct sigaction action;
  return next().sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_DFL &&
         action.sa_handler != SIG_IGN && (action.sa_flags & SA_RESTART) == 0;
}

// Where the kernel is about to make the interrupted call again, it comes back instead, as by a signal that interrupts it.
void end_interrupted_call(mcontext_t& registers) {
#if defined(__x86_64__)
  const auto* code = reinterpret_cast<const unsigned char*>(registers.gregs[REG_RIP]);
  if (code[0] == 0x0f && code[1] == 0x05) {
    registers.gregs[REG_RIP] += 2;
    registers.gregs[REG_RAX] = -EINTR;
  }
#else
  if (*reinterpret_cast<const std::uint32_t*>(registers.pc) == 0xd4000001u) {
    registers.pc += 4;
    registers.regs[0] = static_cast<std::uint64_t>(-EINTR);
  }
#endif
}

// So that the thread is interrupted once, not twice.
void await_pending(int signal) {
  constexpr int kPatience = 1000;
  std::uint64_t pending = 0;
  for (int i = 0; i < kPatience && (pending & bit_of(signal)) == 0; ++i) {
    next().sched_yield();
    syscall(SYS_rt_sigpending, &pending, sizeof(pending));
  }
}

// In a thread that is just being sent `held_signal`, which is the program's now.
void hold_back_anew(ucontext_t& context) {
  const int held = held_signal;
  const int present = signal_of_sampling();
  if (held == 0 || held == present) {
    return;
  }
  held_signal = 0;
  if (sigismember(&context.uc_sigmask, held) == 1) {
    await_pending(held);
    sigdelset(&context.uc_sigmask, held);
    if (present != 0) {
      sigaddset(&context.uc_sigmask, present);
      held_signal = present;
    }
    if (interrupts_calls(held)) {
      end_interrupted_call(context.uc_mcontext);
    }
  }
}

void on_sample(int /*signal*/, siginfo_t* info, void* context) {
  if (info->si_code == SI_TKILL) {
    const int errno_before = errno;
    hold_back_anew(*static_cast<ucontext_t*>(context));
    errno = errno_before;
    return;
  }
  if (info->si_code != SI_TIMER || !recording() || thread_log.state != ThreadLog::State::kLive) {
    return;
  }
  const int errno_before = errno;
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto instruction = static_cast<std::uint64_t>(registers.gregs[REG_RIP]);
  const auto stack_pointer = static_cast<std::uintptr_t>(registers.gregs[REG_RSP]);
  const auto frame_pointer = static_cast<std::uintptr_t>(registers.gregs[REG_RBP]);
#else
  const std::uint64_t instruction = registers.pc;
  const std::uintptr_t stack_pointer = registers.sp;
  const std::uintptr_t frame_pointer = registers.regs[29];
#endif
  const bool is_own = AsksForTime::at(stack_pointer);
  // Ticks that came while the signal could not be delivered.
  const auto stands_for = static_cast<std::uint64_t>(info->si_overrun) + 1;
  write_record(stamp(), LONGPOLE_SAMPLE, 0,
               is_own ? reinterpret_cast<std::uintptr_t>(&on_sample) : instruction, stands_for,
               is_own ? 0 : caller_of(stack_pointer, frame_pointer) & kOtherMask, 0);
  errno = errno_before;
}

// The timers of all threads, so that they can be moved to another signal.
struct ThreadTimer {
  int timer;
  pid_t thread;  // 0: the entry is free
};
constexpr std::size_t kMostTimers = 4096;  // threads beyond these are not sampled
ThreadTimer thread_timers[kMostTimers];
bool timers_are_locked = false;

// Signals must be blocked by the caller.
class TimersLocked {
 public:
  TimersLocked() {
    while (__atomic_test_and_set(&timers_are_locked, __ATOMIC_ACQUIRE)) {
      next().sched_yield();  // the program's own are recorded
    }
  }
  ~TimersLocked() { __atomic_clear(&timers_are_locked, __ATOMIC_RELEASE); }
  TimersLocked(const TimersLocked&) = delete;
  TimersLocked& operator=(const TimersLocked&) = delete;
};

// Anywhere in a thread's first period: a whole one later, what threads do at first would be missing. Where a period is
// a tick, the next one is anywhere in it by itself.
std::int64_t first_expiry_ns() {
  constexpr std::int64_t kParts = 1024;
  const std::int64_t latest = period_ns > tick_ns ? period_ns - tick_ns : 0;
  return 1 + latest / kParts * static_cast<std::int64_t>(stamp() % kParts);
}

timespec time_of(std::int64_t nanoseconds) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {nanoseconds / kSecond, nanoseconds % kSecond};
}

bool arm(ThreadTimer& entry, pid_t thread) {
  const itimerspec period{time_of(period_ns), time_of(first_expiry_ns())};
  entry.timer = make_thread_timer(cpu_clock_of(thread), sampling_signal, thread);
  if (entry.timer < 0) {
    return false;
  }
  entry.thread = thread;
  return syscall(SYS_timer_settime, entry.timer, 0, &period, nullptr) == 0;
}

void disarm(ThreadTimer& entry) {
  syscall(SYS_timer_delete, entry.timer);
  entry.thread = 0;
}

}  // namespace

int signal_of_sampling() {
  return __atomic_load_n(&sampling_signal, __ATOMIC_RELAXED);
}

void prepare_sampling() {
  if (!reads_thread_clock() || control().sample_hz == 0) {
    return;
  }
  period_ns = 1'000'000'000 / std::int64_t{control().sample_hz};
  timespec tick{};
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  tick_ns = tick.tv_nsec;
  sampling_signal = take_free_signal(0, &on_sample);
}

void move_sampling_from(int signal) {
  const SignalsBlocked blocked;
  const TimersLocked locked;
  if (sampling_signal != signal) {
    return;
  }
  __atomic_store_n(&sampling_signal, take_free_signal(signal, &on_sample), __ATOMIC_RELAXED);
  for (ThreadTimer& entry : thread_timers) {
    if (const pid_t thread = entry.thread; thread != 0) {
      disarm(entry);
      if (sampling_signal != 0) {
        arm(entry, thread);
      }
    }
  }
  leave_signal(signal);
  __atomic_fetch_or(&given_back, bit_of(signal), __ATOMIC_RELAXED);
}

int signal_that_lets_through(int signal) {
  const bool was_ours = signal > 0 && signal <= 64 &&
                        (__atomic_load_n(&given_back, __ATOMIC_RELAXED) & bit_of(signal)) != 0;
  return was_ours ? signal_of_sampling() : 0;
}

void start_sampling() {
  if (signal_of_sampling() == 0) {
    return;
  }
  const SignalsBlocked blocked;
  const TimersLocked locked;
  for (ThreadTimer& entry : thread_timers) {
    if (entry.thread == 0) {
      arm(entry, static_cast<pid_t>(syscall(SYS_gettid)));
      return;
    }
  }
}

void stop_sampling() {
  if (signal_of_sampling() == 0) {
    return;
  }
  const SignalsBlocked blocked;
  const TimersLocked locked;
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  for (ThreadTimer& entry : thread_timers) {
    if (entry.thread == self) {
      disarm(entry);
      return;
    }
  }
}

void forget_timers() {
  timers_are_locked = false;
  for (ThreadTimer& entry : thread_timers) {
    if (entry.thread != 0) {
      entry.thread = 0;
    }
  }
}

SamplingHeldBack::SamplingHeldBack() {
  if (signal_of_sampling() == 0) [[likely]] {
    return;
  }
  const int errno_before = errno;
  // It may become the program's in between.
  for (int signal = signal_of_sampling(); signal != 0; signal = signal_of_sampling()) {
    const std::uint64_t own = bit_of(signal);
    std::uint64_t before = 0;
    if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, &own, &before, sizeof(own)) != 0 ||
        (before & own) != 0) {
      break;
    }
    held_ = signal;
    held_signal = signal;
    if (held_signal == signal_of_sampling()) {
      break;
    }
    release();
  }
  errno = errno_before;
}

SamplingHeldBack::~SamplingHeldBack() {
  if (held_ != 0) {
    const int errno_before = errno;
    release();
    errno = errno_before;
  }
}

void SamplingHeldBack::release() {
  const int held_since = held_signal;
  held_signal = 0;
  const std::uint64_t own = bit_of(held_) | (held_since != 0 ? bit_of(held_since) : 0);
  held_ = 0;
  syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &own, nullptr, sizeof(own));
}

}  // namespace longpole::recorder
