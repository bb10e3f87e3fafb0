#include "thread_log.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <climits>
#include <initializer_list>

#include "chunk.h"
#include "function_hooks.h"
#include "measured_costs.h"
#include "next_definition.h"
#include "openmp_hooks.h"
#include "sampling.h"

namespace longpole::recorder {

__thread ThreadLog thread_log;

namespace {

pthread_key_t end_key;

// It takes 20 us or so: a program that makes ten million calls a second is two thousandths longer for it.
constexpr std::uint32_t kChunksPerMeasurement = 128;
static_assert(kScratchBytes >= kBytesToMeasureIn);

std::uintptr_t first_slot(const longpole_chunk* chunk) {
  return reinterpret_cast<std::uintptr_t>(chunk) + kFirstSlot;
}

std::uintptr_t end_of(const longpole_chunk* chunk) {
  return reinterpret_cast<std::uintptr_t>(chunk) + chunk->ready;
}

bool is_slot_of(const longpole_chunk* chunk, std::uintptr_t slot) {
  return chunk != nullptr && slot >= first_slot(chunk) && slot < end_of(chunk);
}

// After a claim ran over the end of a page: a slot of the next one of the same chunk. Null: there is none, or what interrupted
// here has moved on already.
longpole_record* claim_slot_of_next_page() {
  ThreadLog& log = thread_log;
  std::uintptr_t now = __atomic_load_n(&log.next_slot, __ATOMIC_RELAXED);
  if (!is_slot_of(log.chunk, now) || (now & kPlaceMask) > kFirstSlot) {
    return nullptr;
  }
  const std::uintptr_t slot = (now & ~kPlaceMask) + kFirstSlot;
  return __atomic_compare_exchange_n(&log.next_slot, &now, slot + sizeof(longpole_record), false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED)
             ? reinterpret_cast<longpole_record*>(slot)
             : nullptr;
}

void use_chunk(longpole_chunk* chunk) {
  thread_log.chunk = chunk;
  thread_log.again_mask =
      chunk->sequence % LONGPOLE_CHUNKS_PER_AGAIN == 1 ? LONGPOLE_AGAIN_MASK : 0;
  thread_log.next_slot = first_slot(chunk);
}

void adopt_chunk(longpole_chunk* chunk) {
  ThreadLog& log = thread_log;
  chunk->tid = static_cast<std::int32_t>(syscall(SYS_gettid));
  chunk->handle = static_cast<std::uint64_t>(pthread_self());
  log.number = chunk->thread;
  log.state = ThreadLog::State::kLive;
  use_chunk(chunk);
  next().pthread_setspecific(end_key, reinterpret_cast<void*>(std::uintptr_t{1}));
  record(
      stamp(),
      {LONGPOLE_THREAD_START,
       reinterpret_cast<const void*>(static_cast<std::uintptr_t>(chunk->start_function)), nullptr},
      0, 0);
  lockstep::begin_thread(log.number);
  start_sampling();
}

// For a created thread that a signal handler made known before it got this far: its log gets the
// identity that its creator announced, and the chunk that was made for it becomes the spare one.
void exchange_identity(longpole_chunk* announced) {
  ThreadLog& log = thread_log;
  const std::uint32_t provisional = log.number;
  log.number = announced->thread;
  for (longpole_chunk* chunk : {log.previous, log.chunk}) {
    if (chunk == nullptr) {
      continue;
    }
    chunk->thread = announced->thread;
    chunk->creator = announced->creator;
    chunk->start_function = announced->start_function;
    if (chunk->sequence == 0) {
      auto* start = reinterpret_cast<longpole_record*>(first_slot(chunk));
      start->object = announced->start_function;
    }
  }
  announced->thread = provisional;
  announced->creator = log.number;
  log.spare = announced;
}

bool make_room() {
  ThreadLog& log = thread_log;
  longpole_chunk* full = log.chunk;
  if (full->ready < full->bytes) {
    return make_more_ready(full);
  }
  if (log.scratch == nullptr) {
    log.scratch = make_scratch();
  }
  if (log.scratch == nullptr) {
    return false;
  }
  if (const Emptied emptied = empty_chunk(full, log.scratch); emptied != Emptied::kNo) {
    if (emptied == Emptied::kYes) {
      if (full->sequence % kChunksPerMeasurement == 0 && !in_lockstep()) {
        measure_exposed_cost_again(control(), memory_of(log.scratch));
      }
      use_chunk(full);
    }
    return emptied == Emptied::kYes;
  }
  longpole_chunk* fresh =
      make_chunk(full->thread, full->sequence + 1, full->creator, full->start_function);
  if (fresh == nullptr) {
    return false;
  }
  fresh->tid = full->tid;
  fresh->handle = full->handle;
  give_up_chunk(log.previous);
  log.previous = full;
  use_chunk(fresh);
  return true;
}

// glibc calls the destructors of all keys up to PTHREAD_DESTRUCTOR_ITERATIONS times while values are
// set: by setting its own again, this one comes in the last round, after those of the program.
void on_thread_end(void* round) {
  const auto reached = reinterpret_cast<std::uintptr_t>(round);
  if (reached < PTHREAD_DESTRUCTOR_ITERATIONS) {
    next().pthread_setspecific(end_key, reinterpret_cast<void*>(reached + 1));
  } else {
    end_thread_log(false);
  }
}

}  // namespace

bool prepare_thread_logs() {
  return next().pthread_key_create(&end_key, &on_thread_end) == 0;
}

bool register_thread() {
  const std::uint32_t number = __atomic_fetch_add(&control().next_thread, 1, __ATOMIC_RELAXED);
  longpole_chunk* chunk = make_chunk(number, 0, UINT32_MAX, 0);
  if (chunk == nullptr) {
    return false;
  }
  adopt_chunk(chunk);
  return true;
}

void begin_created_thread(longpole_chunk* chunk) {
  const std::uint64_t begin = stamp();
  const SignalsBlocked blocked;
  if (thread_log.state == ThreadLog::State::kUnknown) {
    adopt_chunk(chunk);
  } else {
    exchange_identity(chunk);
  }
  record_overhead(begin);
}

void end_thread_log(bool ends_process) {
  ThreadLog& log = thread_log;
  if (log.state != ThreadLog::State::kLive) {
    return;
  }
  const std::uint64_t begin = stamp();
  stop_sampling();
  if (recording()) {
    record_overhead(begin);
    record(stamp(),
           {LONGPOLE_THREAD_END,
            reinterpret_cast<const void*>(std::uintptr_t{ends_process ? 1U : 0U}), log.exit_site},
           0, 0);
  }
  lockstep::end_thread();
  const SignalsBlocked blocked;
  log.state = ThreadLog::State::kEnded;
  give_up_chunk(log.previous);
  if (recording() && is_slot_of(log.chunk, log.next_slot - sizeof(longpole_record))) {
    retire_chunk(log.chunk, log.next_slot);
  } else {
    give_up_chunk(log.chunk);
  }
  log.next_slot = 0;
  give_up_chunk(log.spare);
  unmap_scratch(log.scratch);
  unmap_functions();
  unmap_openmp_state();
  log.scratch = nullptr;
  log.previous = log.chunk = log.spare = nullptr;
}

void forget_thread_log() {
  ThreadLog& log = thread_log;
  forget_chunk(log.previous);
  forget_chunk(log.chunk);
  forget_chunk(log.spare);
  unmap_scratch(log.scratch);
  log = {};
}

longpole_record* record_acquired(const Call& call, int result) {
  return record_acquired_inline(call, result);
}

longpole_record* record_releasing(const Call& call) {
  return record_releasing_inline(call);
}

std::uint64_t thread_cpu_time_if_lost_cpu(std::uint64_t tsc) {
  ThreadLog& log = thread_log;
  rusage used;
  const AsksForTime asks;
  const bool known = !in_lockstep() && getrusage(RUSAGE_THREAD, &used) == 0;
  const std::uint64_t turns =
      known ? 1 + static_cast<std::uint64_t>(used.ru_nvcsw + used.ru_nivcsw) : 0;
  if (known && turns == log.turns && tsc - log.last_clock < LONGPOLE_LATEST_CLOCK) {
    return LONGPOLE_HAD_CPU;
  }
  log.turns = turns;
  log.last_clock = tsc;
  return thread_cpu_time();
}

longpole_record* record(std::uint64_t tsc, const Call& call, unsigned flags, int result) {
  return record_inline(tsc, call, flags, result);
}

longpole_record* record_with_other(std::uint64_t tsc, const Call& call, unsigned flags,
                                   std::uint64_t other, int result) {
  if (reads_thread_clock()) {
    if (const std::uint64_t cpu_time = thread_cpu_time_if_due(tsc, call.kind, flags);
        cpu_time != 0) {
      write_record(tsc, LONGPOLE_CPU_CLOCK, 0, cpu_time, 0, 0, 0);
    }
  }
  return write_record(tsc, call.kind, flags, reinterpret_cast<std::uintptr_t>(call.object),
                      reinterpret_cast<std::uintptr_t>(call.site), other, result);
}

void record_begins(const Call& call, int result) {
  record(stamp(), call, LONGPOLE_BEGINS, result);
  if (in_lockstep()) [[unlikely]] {
    lockstep::step_out(call.kind, call.object, nullptr);
  }
}

void record_returns(const Call& call, int result) {
  if (in_lockstep()) [[unlikely]] {
    lockstep::step_in();
  }
  record(stamp_after_acquisition(), call, LONGPOLE_RETURNS, result);
}

void record_begins_giving_up(const Call& call, const void* given_up) {
  record_with_other(stamp(), call, LONGPOLE_BEGINS, reinterpret_cast<std::uintptr_t>(given_up), 0);
  if (in_lockstep()) [[unlikely]] {
    lockstep::step_out(call.kind, call.object, given_up);
  }
}

void record_returns_with(const Call& call, const void* taken_back, int result) {
  if (in_lockstep()) [[unlikely]] {
    lockstep::step_in();
  }
  record_with_other(stamp_after_acquisition(), call, LONGPOLE_RETURNS,
                    reinterpret_cast<std::uintptr_t>(taken_back), result);
}

__attribute__((noinline, cold)) longpole_record* claim_slot_slowly() {
  if (longpole_record* const slot = claim_slot_of_next_page(); slot != nullptr) {
    return slot;
  }
  const std::uint64_t begin = stamp();
  const SignalsBlocked blocked;
  ThreadLog& log = thread_log;
  bool ready = false;
  if (recording()) {
    switch (log.state) {
      case ThreadLog::State::kUnknown:
        wait_for_start();
        ready = register_thread();
        break;
      case ThreadLog::State::kLive:
        // A handler may have moved on, or made room, since the claim that ran over.
        ready = is_slot_of(log.chunk, log.next_slot) || make_room();
        break;
      case ThreadLog::State::kEnded:
      case ThreadLog::State::kChildOfVfork:
        break;
    }
    if (ready) {
      record_overhead(begin);
    } else if (log.state != ThreadLog::State::kChildOfVfork) {
      __atomic_fetch_add(&control().dropped, 1, __ATOMIC_RELAXED);
    }
  }
  if (!ready) {
    log.next_slot = 0;
    return nullptr;
  }
  return claim_slot();
}

}  // namespace longpole::recorder
