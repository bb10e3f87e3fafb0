// The events of one thread, from what its recorder wrote and what the kernel saw of it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "recording/channel_edges.h"
#include "recording/clock.h"
#include "recording/cpu_curve.h"
#include "recording/futex_edges.h"
#include "recording/kernel_entries.h"
#include "recording/kernel_log.h"
#include "recording/merged_run.h"
#include "recording/object_table.h"
#include "recording/raw_chunks.h"
#include "recording/record_costs.h"
#include "recording/signal_edges.h"
#include "recording/site_table.h"

namespace longpole::recording {

// The thread woke another one that slept in no recorded call.
struct WakeUp {
  std::int64_t time = 0;
  ObjectId object;
  std::uint32_t site = no_site;
};

// What all threads of a run have in common while their events are made. Times count from `base_ns`.
struct MergeContext {
  StampClock clock;
  std::int64_t base_ns = 0;
  std::int64_t end_ns = 0;  // of the run, from base
  RecordCosts costs;
  std::uint64_t function_cost_ps = 0;       // of an entry or exit of a function
  std::uint64_t wait_cost_ps = 0;           // of both records of a call that waits, and
  std::uint64_t interruptible_cost_ps = 0;  // of what else is done about one that a signal may end
  std::uint64_t kernel_entry_cost_ps = 0;   // besides, of a call that wakes somebody up
  KernelEntries kernel_entries;
  ObjectTable objects;
  SiteTable sites;
  FunctionTable functions;
  // The thread that a CREATE record's number means, and that a join or detach of a pthread_t at
  // some time means; none where nobody knows.
  std::function<ThreadId(std::uint64_t)> created_thread;
  std::function<ThreadId(std::uint64_t, std::int64_t)> thread_of_handle;

  std::vector<ThreadSignals> signals;  // by thread
  ChannelEdges channels;
  std::vector<ThreadFutexes> futexes;  // by thread

  // The thread that had a kernel thread id at some time.
  std::function<ThreadId(std::int32_t, std::int64_t)> thread_of_tid;
  // A path in KernelLog::paths, and its call site.
  std::function<std::span<const std::uint64_t>(std::uint32_t)> addresses_of_path;
  std::function<std::uint32_t(std::uint32_t)> site_of_path;
  // Of each thread, those that the waits of the others speak of; in no order.
  std::vector<std::vector<WakeUp>> wake_ups;
  // Sleeps in no recorded call, waiting for a CPU after them included, whose waker is not known.
  std::uint64_t unexplained_waits = 0;
  std::int64_t unexplained_ns = 0;

  // Of a library that tells what it does (longpole_control.runtime_begin), what it does that with.
  std::uint64_t runtime_begin = 0;
  std::uint64_t runtime_end = 0;
  [[nodiscard]] bool is_inside_runtime(const longpole_record& record) const {
    const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
    return record.site >= runtime_begin && record.site < runtime_end &&
           ((kind >= LONGPOLE_MUTEX_LOCK && kind <= LONGPOLE_CONDITION_BROADCAST) ||
            kind == LONGPOLE_YIELD);
  }

  [[nodiscard]] std::int64_t time_of(std::uint64_t stamp) {
    return clock.nanoseconds(stamp) - base_ns;
  }
};

// When the thread was on a CPU and when it slept. Times from base.
struct ThreadTimes {
  std::int64_t born = 0;
  std::int64_t died = 0;
  CpuCurve cpu;
  std::vector<Gap> gaps;
  std::vector<TimedSample> samples;
  std::vector<WakeUp> wake_ups;  // that it gave, in order of time
  CpuCurve run_delay;            // portable source: waited for a CPU so far; empty: not known
};

// Off the CPU of one's own accord for less than this is not an event: the thread's own page faults
// and the kernel's short waits, which a wake-up alone outlasts. It is kept and added to the next
// wait that is long enough, or becomes one itself when there is enough of it.
inline constexpr std::int64_t shortest_external_wait_ns = 20'000;

// Rules (DESIGN section 3):
//  - The CPU time of an event is that between its own beginning and the beginning of the event
//    before it: what the thread computed inside a blocking call counts for what follows it.
//  - The measured cost of the records is taken out of it, never more than there is; what cannot be
//    taken out of one stretch is taken out of the thread's next ones.
//  - Sleeping while records move away is no event.
//  - Sleeping outside a recorded call that waits is an external_wait of its own.
//  - A wait for a futex by a system call of the program's own that another thread ended by one is a wait for a
//    semaphore that stands for the wake-ups between the two; that thread posts it. Where the wait is one of
//    std::barrier's, both are arrivals at a barrier. What it sleeps in others is an external_wait with the line
//    of the call.
//  - Sleeping in a signal or broadcast is no event: only on one CPU does it take time.
//  - A call of input or output is an external_wait, with its descriptor, the bytes and what the thread slept
//    in it. Where it waited for another thread at the other end of a channel, a wait for a semaphore that
//    stands for data or room in it precedes; that other thread's call posts it.
//  - A call that began and never returned is `unfinished` if nothing came after it; else it was
//    jumped out of, and its time is an external_wait, but that of a wait for a condition, which gives
//    its mutex up, a wait that timed out. A call that waited and failed, such as a timed
//    one on a read-write lock, is an external_wait too.
//  - A wait for a signal that a thread of the program sent is a wait for a semaphore that stands for
//    these signals, and sending it posts that. So is a call in which its thread was cancelled; if it
//    waited for a condition, it unlocks the mutex before and locks it behind. Other waits for
//    signals are external waits; signals sent that end no wait are no events.
//  - Yields inside a call that waits are its way of waiting and no events.
//  - Such a sleep that a thread of the program ended is no external_wait but a wait for a semaphore that
//    stands for the wake-ups between the two; that thread posts it when it wakes (`wake_ups`).
//  - What waiting for a spin lock computed counts for nothing, nor what waiting in OpenMP did, but for the tasks
//    that a thread does meanwhile: it arrives at the barrier after the last.
//  - What OpenMP's library does with locks and conditions of its own is no event.
//  - A function that was left without a record of it (by longjmp) is left where the next record says
//    that it was no longer entered.
//  - Every thread ends with thread_end; where none was recorded, at its death or the end of the run. Of
//    the thread that ended the program by exit(), or main by returning, program_exit precedes.
// Adds to context.wake_ups what the waits say of others.
[[nodiscard]] MergedThread make_thread_events(ThreadId self, const RawThread& raw,
                                              MergeContext& context, ThreadTimes times);

}  // namespace longpole::recording
