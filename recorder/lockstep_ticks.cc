#include "lockstep_ticks.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "chunk.h"
#include "lockstep.h"
#include "next_definition.h"
#include "own_signals.h"
#include "thread_log.h"

namespace longpole::recorder::lockstep {

namespace {

int tick_signal = 0;
OnTick act = nullptr;
volatile int ticks_seen = 0;  // while it is measured what one costs
std::uint64_t tick_cost_ns = 0;
std::uint64_t around_readings_ns = 0;
std::uint64_t ns_per_stamp = 0;  // times 2^32

std::uint64_t monotonic_now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

bool is_system_call(std::uintptr_t address) {
#if defined(__x86_64__)
  const auto* code = reinterpret_cast<const unsigned char*>(address);
  return code[0] == 0x0f && code[1] == 0x05;
#else
  return *reinterpret_cast<const std::uint32_t*>(address) == 0xd4000001u;
#endif
}

// The kernel leaves it in front of the instruction when it is to be made again, else behind it. What is in
// front of where a thread runs is its own code, readable like it but at the start of a mapping.
bool interrupted_system_call(const void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto at = static_cast<std::uintptr_t>(registers.gregs[REG_RIP]);
  constexpr std::uintptr_t kLength = 2;
#else
  const auto at = static_cast<std::uintptr_t>(registers.pc);
  constexpr std::uintptr_t kLength = 4;
#endif
  constexpr std::uintptr_t kSmallestPage = 4096;
  return (at % kSmallestPage <= kSmallestPage - kLength && is_system_call(at)) ||
         (at % kSmallestPage >= kLength && is_system_call(at - kLength));
}

void on_signal(int /*signal*/, siginfo_t* /*info*/, void* context) {
  ticks_seen = ticks_seen + 1;
  if (!in_lockstep() || act == nullptr) {
    return;
  }
  const int errno_before = errno;
  act(interrupted_system_call(context));
  errno = errno_before;
}

// Lets a timer interrupt a loop that looks for missing time, several times. The median: other interrupts are
// longer or shorter, and so is now and then a tick.
std::uint64_t measure_tick() {
  constexpr std::size_t kTicks = 31;
  constexpr std::uint64_t kAtMost = 200'000;
  std::uint64_t missing[kTicks];  // in order: std::sort is a kilobyte of code
  std::size_t count = 0;
  const int timer = make_thread_timer(CLOCK_MONOTONIC, tick_signal,
                                      static_cast<pid_t>(resolved_next.syscall(SYS_gettid)));
  if (timer < 0) {
    return 0;
  }
  const itimerspec once{{0, 0}, {0, static_cast<std::int64_t>(kShortestTick)}};
  for (std::size_t tick = 0; tick < kTicks; ++tick) {
    const int before = ticks_seen;
    resolved_next.syscall(SYS_timer_settime, timer, 0, &once, nullptr);
    const std::uint64_t begin = stamp();
    for (std::uint64_t last = begin; nanoseconds_of(last - begin) < kAtMost;) {
      const std::uint64_t now = stamp();
      if (ticks_seen != before) {
        const std::uint64_t gap = nanoseconds_of(stamp() - last);
        std::size_t place = count++;
        for (; place != 0 && missing[place - 1] > gap; --place) {
          missing[place] = missing[place - 1];
        }
        missing[place] = gap;
        break;
      }
      last = now;
    }
  }
  resolved_next.syscall(SYS_timer_delete, timer);
  if (count == 0) {
    return 0;
  }
  return missing[count / 2];
}

// The least of several batches: what interrupts them makes them longer only.
std::uint64_t measure_around_readings() {
  constexpr unsigned kBatches = 16;
  constexpr unsigned kReadings = 32;
  std::uint64_t least = UINT64_MAX;
  for (unsigned batch = 0; batch < kBatches; ++batch) {
    std::uint64_t between = 0;
    const std::uint64_t begin = thread_cpu_time();
    for (unsigned i = 0; i < kReadings; ++i) {
      const SignalsBlocked blocked;
      const std::uint64_t first = thread_cpu_time();
      between += thread_cpu_time() - first;
    }
    const std::uint64_t all = thread_cpu_time() - begin;
    least = std::min(least, (all - std::min(between, all)) / kReadings);
  }
  return least;
}

void measure_stamps() {
  constexpr std::uint64_t kLongEnough = 1'000'000;
  const std::uint64_t begin = monotonic_now();
  const std::uint64_t first = stamp();
  std::uint64_t end = begin;
  while (end - begin < kLongEnough) {
    end = monotonic_now();
  }
  const std::uint64_t stamps = stamp() - first;
  ns_per_stamp = ((end - begin) << 32) / std::max<std::uint64_t>(stamps, 1);
}

}  // namespace

std::uint64_t nanoseconds_of(std::uint64_t stamps) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(stamps) * ns_per_stamp) >> 32);
}

std::uint64_t stamps_of(std::uint64_t nanoseconds) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(nanoseconds) << 32) /
                                    std::max<std::uint64_t>(ns_per_stamp, 1));
}

std::uint64_t cost_of_tick() {
  return tick_cost_ns;
}

std::uint64_t cost_around_readings() {
  return around_readings_ns;
}

bool prepare_ticks(OnTick on_tick) {
  tick_signal = take_free_signal(0, &on_signal);
  if (tick_signal == 0) {
    return false;
  }
  measure_stamps();
  tick_cost_ns = measure_tick();
  around_readings_ns = measure_around_readings();
  act = on_tick;
  return true;
}

// Where there is none, because too many signals are queued, those who wait send the ticks.
void make_timer(Participant& of) {
  of.timer = make_thread_timer(CLOCK_MONOTONIC, tick_signal, of.thread);
  of.has_timer = of.timer >= 0;
}

void delete_timer(Participant& of) {
  if (of.has_timer) {
    resolved_next.syscall(SYS_timer_delete, of.timer);
    of.has_timer = false;
  }
}

void tick_after(Participant& thread, std::uint64_t nanoseconds) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const itimerspec once{{0, 0},
                        {static_cast<time_t>(nanoseconds / kSecond),
                         static_cast<std::int64_t>(nanoseconds % kSecond)}};
  if (thread.has_timer) {
    thread.armed = true;
    resolved_next.syscall(SYS_timer_settime, thread.timer, 0, &once, nullptr);
  }
}

void no_tick(Participant& thread) {
  if (thread.armed) {
    thread.armed = false;
    const itimerspec never{};
    resolved_next.syscall(SYS_timer_settime, thread.timer, 0, &never, nullptr);
  }
}

void tick_now(const Participant& thread) {
  resolved_next.syscall(SYS_tgkill, control().pid, thread.thread, tick_signal);
}

int signal_of_ticks() {
  return __atomic_load_n(&tick_signal, __ATOMIC_RELAXED);
}

void move_ticks_from(int signal) {
  const SignalsBlocked blocked;
  const OrderLocked locked;
  if (tick_signal != signal) {
    return;
  }
  __atomic_store_n(&tick_signal, take_free_signal(signal, &on_signal), __ATOMIC_RELAXED);
  for (unsigned i = 0; participant_at(i) != nullptr; ++i) {
    if (Participant& one = *participant_at(i); one.state != Participant::State::kFree) {
      delete_timer(one);
      if (tick_signal != 0) {
        make_timer(one);
      }
    }
  }
  if (order.holder != nullptr) {
    tick_after(*order.holder, kTick);
  }
  leave_signal(signal);
}

}  // namespace longpole::recorder::lockstep
