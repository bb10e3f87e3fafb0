// What each thread appends records to.
//
//   page of a chunk
//   ┌─────────────────┬─────┬─────┬─ ─ ─┬─────┐
//   │ header or spare │ rec │ rec │     │     │
//   └─────────────────┴─────┴─────┴──▲──┴─────┘
//                                next_slot
//
// A slot is claimed by one addition to next_slot, in one instruction, so that a signal handler that
// records in the middle of anything gets a slot of its own. A claim that runs over the end of a page, or that
// is made without a chunk (next_slot 0), yields an address whose place in a page would be in the
// header or the spare slots, and takes the slow path. No other check is on the way.
//
// Threads: everything here belongs to the calling thread. Signal handlers may interrupt anywhere.
#pragma once

#include <pthread.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#include "chunk.h"
#include "lockstep.h"
#include "longpole/raw_record.h"
#include "process.h"

namespace longpole::recorder {

// That returned at once, see yields_before_waits.h.
struct YieldsInARow {
  const void* site;  // null: none
  std::uintptr_t next_slot;
  unsigned count;
};

struct ThreadLog {
  enum class State : std::uint8_t {
    kUnknown = 0,  // not registered: the thread has not made a recorded call
    kLive,
    kEnded,         // its last record is written; what it still calls counts as dropped
    kChildOfVfork,  // on the parent's thread, which waits; what it calls is nobody's
  };

  std::uintptr_t next_slot;
  longpole_chunk* chunk;
  // The one before, kept for what a handler may have interrupted between the claim of a slot and its
  // filling: that slot must stay where it is.
  longpole_chunk* previous;
  Scratch* scratch;       // to encode chunks in; none before the first is full
  longpole_chunk* spare;  // made for a thread whose pthread_create failed
  const void* exit_site;  // the caller of pthread_exit
  std::uint32_t number;
  State state;
  bool waits_in_runtime;  // of OpenMP, by yielding for instance: see openmp_hooks.cc
  // LONGPOLE_AGAIN_MASK in a chunk in which some records are written twice, else 0.
  std::uintptr_t again_mask;
  // Under the thread clock: of the last record, of the last that has the CPU time or says that it is not needed, and of
  // the last that has it.
  std::uint64_t last_stamp;
  std::uint64_t last_reading;
  std::uint64_t last_clock;
  std::uint64_t turns;  // that the thread has had a CPU, as of last_reading; 0: not known
  YieldsInARow yields;
  std::uintptr_t asks_from;  // see AsksForTime; 0: it does not
};

extern __thread ThreadLog thread_log __attribute__((tls_model("initial-exec")));

// Once in the process, before the first record. False: no key is left to learn of threads' ends.
bool prepare_thread_logs();

// Numbers the calling thread, which nobody created under the recorder's eyes, and begins its log.
// Signals must be blocked by the caller. False: the recording has stopped.
bool register_thread();

// Begins the log of the calling thread, just created, in the chunk that its creator made for it.
void begin_created_thread(longpole_chunk* chunk);

// Writes THREAD_END and closes the log. `ends_process`: main returned, or the thread called exit().
void end_thread_log(bool ends_process);

// In a forked child: the log is its parent's.
void forget_thread_log();

longpole_record* claim_slot_slowly();

// Null: no place; the record is counted as dropped.
inline longpole_record* claim_slot() {
#if defined(__x86_64__)
  // Without lock: atomic towards this thread's signal handlers, which is all that is needed.
  std::uintptr_t slot = sizeof(longpole_record);
  __asm__ volatile("xaddq %0, %1" : "+r"(slot), "+m"(thread_log.next_slot) : : "memory");
#else
  const std::uintptr_t slot =
      __atomic_fetch_add(&thread_log.next_slot, sizeof(longpole_record), __ATOMIC_RELAXED);
#endif
  if ((slot & kPlaceMask) >= kFirstSlot) [[likely]] {
    return reinterpret_cast<longpole_record*>(slot);
  }
  return claim_slot_slowly();
}

// The stamp of a call that releases, or that begins to wait. May be earlier by what the processor
// executes out of order, never later than the store that releases.
inline std::uint64_t stamp() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  return ticks;
#else
#error "Longpole records on x86-64 and AArch64"
#endif
}

// The stamp of a call that has acquired: not before the acquisition, whose cache line may have been
// long in coming.
inline std::uint64_t stamp_after_acquisition() {
#if defined(__x86_64__)
  __asm__ volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
  __asm__ volatile("isb" : : : "memory");
#endif
  return stamp();
}

// While it lives a sample right below it on the stack is recording's own, though it falls into libc: none of a handler of the
// program that interrupts it, or after one that jumped away.
class AsksForTime {
 public:
  AsksForTime() { say(reinterpret_cast<std::uintptr_t>(this)); }
  ~AsksForTime() { say(before_); }
  AsksForTime(const AsksForTime&) = delete;
  AsksForTime& operator=(const AsksForTime&) = delete;

  static bool at(std::uintptr_t stack_pointer) {
    constexpr std::uintptr_t kMostOfLibc = 512;
    return thread_log.asks_from - stack_pointer < kMostOfLibc;
  }

 private:
  static void say(std::uintptr_t from) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread_log.asks_from = from;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }

  std::uintptr_t before_ = thread_log.asks_from;
};

inline std::uint64_t thread_cpu_time() {
  const AsksForTime asks;
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

struct Call {
  longpole_kind kind;
  const void* object;
  const void* site;
};

inline constexpr std::uint64_t kOtherMask = (std::uint64_t{1} << 48) - 1;

inline constexpr std::uint8_t capped(int result) {
  return static_cast<std::uint8_t>(result > 255 ? 255 : result);
}

inline longpole_record* write_record(std::uint64_t tsc, longpole_kind kind, unsigned flags,
                                     std::uint64_t object, std::uint64_t site, std::uint64_t other,
                                     int result) {
  longpole_record* record = claim_slot();
  if (record == nullptr) [[unlikely]] {
    return nullptr;
  }
  record->tsc = tsc;
  record->object = object;
  record->site = site;
  const std::uint64_t last =
      (other & kOtherMask) | std::uint64_t{capped(result)} << 48 |
      std::uint64_t{LONGPOLE_KIND_AND_FLAGS(static_cast<unsigned>(kind), flags)} << 56;
  __atomic_store_n(last_word_of(record), last, __ATOMIC_RELEASE);
  return record;
}

// What recording itself did since `begin`, a stamp: what of it took CPU time or slept is not the program's.
inline void record_overhead(std::uint64_t begin) {
  const std::uint64_t now = stamp();
  write_record(now, LONGPOLE_OVERHEAD, 0, now - begin, 0, 0, 0);
}

// LONGPOLE_HAD_CPU where the thread has not lost its CPU since it last asked. Without waking the scheduler up, see there.
std::uint64_t thread_cpu_time_if_lost_cpu(std::uint64_t tsc);

// 0: the clock need not be read, which costs as much as ten records.
__attribute__((always_inline)) inline std::uint64_t thread_cpu_time_if_due(std::uint64_t tsc,
                                                                           longpole_kind kind,
                                                                           unsigned flags) {
  ThreadLog& log = thread_log;
  const bool long_stretch = tsc - log.last_stamp > LONGPOLE_LONG_STRETCH;
  log.last_stamp = tsc;
  const bool waited_for_nobody_known_or_spun =
      (flags & LONGPOLE_RETURNS) != 0 && long_stretch &&
      (kind == LONGPOLE_IO || kind == LONGPOLE_FUTEX_WAIT || kind == LONGPOLE_SIGNAL_WAIT ||
       kind >= LONGPOLE_TEAM_WAIT);
  // It may follow a wake-up, and whoever reads the clock then loses the CPU to the thread that it woke.
  const bool begins_futex_wait = (flags & LONGPOLE_BEGINS) != 0 && kind == LONGPOLE_FUTEX_WAIT;
  const bool at_boundary = (flags & LONGPOLE_BEGINS) != 0 || waited_for_nobody_known_or_spun ||
                           kind == LONGPOLE_THREAD_START || kind == LONGPOLE_THREAD_END;
  if (!at_boundary && ((flags & LONGPOLE_RETURNS) != 0 ||
                       (!long_stretch && tsc - log.last_reading < LONGPOLE_LATEST_READING)))
      [[likely]] {
    return 0;
  }
  log.last_reading = tsc;
  if (!at_boundary || begins_futex_wait) {
    return thread_cpu_time_if_lost_cpu(tsc);
  }
  log.last_clock = tsc;
  log.turns = 0;
  return thread_cpu_time();
}

// A record whose kind gives `other` no meaning: it has the CPU time there in the portable source.
longpole_record* record(std::uint64_t tsc, const Call& call, unsigned flags, int result);

// The same where the kind is known when this is compiled: of lock and unlock nothing but the record itself is left then.
__attribute__((always_inline)) inline longpole_record* record_inline(std::uint64_t tsc,
                                                                     const Call& call,
                                                                     unsigned flags, int result) {
  const std::uint64_t cpu_time =
      reads_thread_clock() ? thread_cpu_time_if_due(tsc, call.kind, flags) : 0;
  return write_record(tsc, call.kind, flags, reinterpret_cast<std::uintptr_t>(call.object),
                      reinterpret_cast<std::uintptr_t>(call.site), cpu_time, result);
}

// Not inlined: what has one is seldom called, or enters the kernel.
longpole_record* record_with_other(std::uint64_t tsc, const Call& call, unsigned flags,
                                   std::uint64_t other, int result);

// On one CPU whoever acquires next has waited for a change of threads, which no stamp passes: there the processor
// need not come to rest at each acquisition, which costs as much as all else and hides behind no work of the program.
inline std::uint64_t stamp_of_acquisition() {
  return on_one_cpu() ? stamp() : stamp_after_acquisition();
}

// In some places of some chunks a record is written twice, to measure what one costs there (LONGPOLE_AGAIN): with a slot of
// its own and a stamp like that of an acquisition, in the midst of the code around it as the first. Where that stamp has a
// fence, it waits for nothing behind the first.
inline void measure_cost(const longpole_record* record) {
  if ((reinterpret_cast<std::uintptr_t>(record) & thread_log.again_mask) == LONGPOLE_AGAIN_BYTES)
      [[unlikely]] {
    write_record(stamp_of_acquisition(), LONGPOLE_AGAIN, 0, 0, 0, 0, 0);
  }
}

// Inlined, for the calls that programs make most, lock and unlock; in every hook this would be a quarter of the library.
inline longpole_record* record_acquired_inline(const Call& call, int result) {
  longpole_record* const written = record_inline(stamp_of_acquisition(), call, 0, result);
  measure_cost(written);
  return written;
}
inline longpole_record* record_releasing_inline(const Call& call) {
  if (in_lockstep()) [[unlikely]] {
    lockstep::release(call.kind, call.object);
  }
  longpole_record* const written = record_inline(stamp(), call, 0, 0);
  measure_cost(written);
  return written;
}

longpole_record* record_acquired(const Call& call, int result);
longpole_record* record_releasing(const Call& call);

// Of calls that wait, which take so long that a call of ours does not count: inlined into each of the hooks they
// would be a third of the library.
void record_begins(const Call& call, int result = 0);
void record_returns(const Call& call, int result);
// Waiting that gives `given_up` up, a mutex.
void record_begins_giving_up(const Call& call, const void* given_up);
void record_returns_with(const Call& call, const void* taken_back, int result);

// Before an attempt, which has no record of its own until it is made.
inline void take_turn_before_attempt() {
  if (in_lockstep()) [[unlikely]] {
    lockstep::take_turn();
  }
}

// A call that releases is recorded before its result is known. Failing is rare.
inline void correct_result(longpole_record* record, int result) {
  if (result != 0 && record != nullptr) [[unlikely]] {
    record->result = capped(result);
  }
}

}  // namespace longpole::recorder

// A function that the program calls in place of libc's, and the address that it returns to.
#define LONGPOLE_HOOK extern "C" __attribute__((visibility("default")))
#define LONGPOLE_SITE() __builtin_return_address(0)
