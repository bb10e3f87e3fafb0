// The program's own system calls. Those that wait for a futex, and those that end such waits, are recorded (std::future,
// C++20's waits, oneTBB, Rust's locks), and those about CPUs are answered as everywhere else. All others must pass exactly
// as they came, with any number of arguments and also where they return twice: so the entry is no C function.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>

#include "call_path.h"
#include "cpu_count.h"
#include "next_definition.h"
#include "sampling.h"
#include "system_calls.h"
#include "thread_log.h"
#include "yields_before_waits.h"

#if defined(__x86_64__)
static_assert(SYS_futex == 202 && SYS_sched_setaffinity == 203 && SYS_sched_getaffinity == 204);
__asm__(R"(
  .text
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  endbr64
  leaq -202(%rdi), %rax
  cmpq $2, %rax
  jbe longpole_system_call
  jmp *longpole_next_system_call(%rip)
  .cfi_endproc
  .size syscall, .-syscall
)");
#elif defined(__aarch64__)
static_assert(SYS_futex == 98 && SYS_sched_setaffinity == 122 && SYS_sched_getaffinity == 123);
__asm__(R"(
  .text
  .globl syscall
  .type syscall, %function
syscall:
  .cfi_startproc
  cmp x0, #98
  b.eq longpole_system_call
  sub x16, x0, #122
  cmp x16, #1
  b.ls longpole_system_call
  adrp x16, longpole_next_system_call
  ldr x16, [x16, :lo12:longpole_next_system_call]
  br x16
  .cfi_endproc
  .size syscall, .-syscall
)");
#endif

namespace longpole::recorder {
namespace {

constexpr long kFutexWait = 0;
constexpr long kFutexWake = 1;
constexpr long kFutexLockPi = 6;
constexpr long kFutexWaitBitset = 9;
constexpr long kFutexWakeBitset = 10;
constexpr long kFutexWaitRequeuePi = 11;
constexpr long kFutexLockPi2 = 13;
constexpr long kFutexFlags = 128 | 256;  // private, and the clock

bool waits(long operation) {
  switch (operation & ~kFutexFlags) {
    case kFutexWait:
    case kFutexLockPi:
    case kFutexWaitBitset:
    case kFutexWaitRequeuePi:
    case kFutexLockPi2:
      return true;
    default:
      return false;
  }
}

bool wakes(long operation) {
  const long plain = operation & ~kFutexFlags;
  return plain == kFutexWake || plain == kFutexWakeBitset;
}

// Before the start. Only what has too many arguments for it may not come this early, and nothing has.
long system_call_before_start(long number, long a, long b, long c, long d, long e, long f) {
  return next().syscall(number, a, b, c, d, e, f);
}

}  // namespace

extern "C" {

using SystemCall = long (*)(long, long, long, long, long, long, long);
__attribute__((visibility("hidden"))) SystemCall longpole_next_system_call =
    &system_call_before_start;

__attribute__((visibility("hidden"))) long longpole_system_call(long number, long a, long b, long c,
                                                                long d, long e, long f) {
  if (number == SYS_sched_getaffinity) {
    const long bytes = next().syscall(number, a, b, c);
    return bytes > 0 ? tell_cpus(reinterpret_cast<cpu_set_t*>(c), static_cast<std::size_t>(bytes),
                                 static_cast<std::size_t>(b))
                     : bytes;
  }
  if (number == SYS_sched_setaffinity) {
    return bind_thread(static_cast<pid_t>(a), static_cast<std::size_t>(b),
                       reinterpret_cast<const cpu_set_t*>(c), LONGPOLE_SITE());
  }
  const auto* futex = reinterpret_cast<const void*>(a);
  if (recording() && wakes(b)) {
    record_call_path(__builtin_frame_address(0));
    longpole_record* record = record_releasing({LONGPOLE_FUTEX_WAKE, futex, LONGPOLE_SITE()});
    const long woken = resolved_next.syscall(number, a, b, c, d, e, f);
    correct_result(record, woken > 0 ? static_cast<int>(woken) : 0);
    return woken;
  }
  if (!recording() || !waits(b)) {
    return next().syscall(number, a, b, c, d, e, f);
  }
  begins_futex_wait();
  record_call_path(__builtin_frame_address(0));
  const Call call{LONGPOLE_FUTEX_WAIT, futex, LONGPOLE_SITE()};
  record_begins(call);
  long result;
  {
    const SamplingHeldBack held_back;
    result = resolved_next.syscall(number, a, b, c, d, e, f);
  }
  record_returns(call, result < 0 ? errno : 0);
  return result;
}
}

void prepare_system_calls() {
  longpole_next_system_call = reinterpret_cast<SystemCall>(resolved_next.syscall);
}

}  // namespace longpole::recorder
