// Waits that no recorded call shows in full: for the kernel, for input and output, for signals, for being
// cancelled.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "recording/thread_builder.h"

namespace longpole::recording {
namespace {

// A signal or broadcast sleeps until the threads that one before it woke have taken note (glibc,
// nptl/pthread_cond_common.c, __condvar_quiesce_and_switch_g1). They do as soon as they have a CPU, so on one
// CPU that takes time slices and elsewhere next to nothing. It begins within microseconds of the call, unless
// the thread loses its CPU before: then the path of the sleep tells, where there is one.
bool signals_a_condition(const Event& event) {
  return event.kind == EventKind::condition_signal || event.kind == EventKind::condition_broadcast;
}
constexpr std::int64_t longest_signalling_ns = 20'000;

}  // namespace

// Sleeps and wake-ups between the last recorded call and `until`.
void ThreadBuilder::emit_unrecorded(std::int64_t until) {
  const std::vector<Gap>& gaps = times_.gaps;
  const std::vector<WakeUp>& wake_ups = times_.wake_ups;
  for (;;) {
    const bool gap = next_gap_ < gaps.size() && gaps[next_gap_].from < until;
    const bool wake_up = next_wake_up_ < wake_ups.size() && wake_ups[next_wake_up_].time < until;
    if (wake_up && (!gap || wake_ups[next_wake_up_].time <= gaps[next_gap_].from))
      emit_wake_up(wake_ups[next_wake_up_++]);
    else if (gap)
      emit_external_wait(gaps[next_gap_++]);
    else
      return;
  }
}

void ThreadBuilder::emit_wake_up(const WakeUp& wake_up) {
  Event event;
  event.kind = EventKind::semaphore_post;
  event.time = Nanoseconds{wake_up.time};
  if (!thread_.events.empty())
    event.time = std::max(event.time, thread_.events.back().time);
  event.cpu = cpu_until(wake_up.time);
  event.subject = wake_up.object.value;
  emit(event, wake_up.site);
}

bool ThreadBuilder::is_inside_last_call(const Gap& gap, ThreadId waker) const {
  if (gap.path != no_path) {
    const std::span<const std::uint64_t> addresses = context_.addresses_of_path(gap.path);
    if (std::ranges::find(addresses, last_call_site_) != addresses.end())
      return true;
  }
  return (waker.known() && gap.path == no_path) ||
         gap.from - thread_.events.back().time.count() < longest_signalling_ns;
}

void ThreadBuilder::emit_external_wait(const Gap& gap) {
  if (!pending_.empty() || cancelled_wait_ || gap.from < free_from_)
    return;
  const ThreadId waker =
      gap.waker_tid != 0 ? context_.thread_of_tid(gap.waker_tid, gap.ready) : ThreadId::none();
  if (outside_waits_.empty() && io_calls_.empty() && !thread_.events.empty() &&
      signals_a_condition(thread_.events.back()) && is_inside_last_call(gap, waker))
    return;
  const std::uint32_t site = !outside_waits_.empty() ? outside_waits_.back()
                             : !io_calls_.empty()    ? io_calls_.back().site
                             : gap.path != no_path   ? context_.site_of_path(gap.path)
                                                     : no_site;
  Event event;
  event.time = Nanoseconds{gap.from};
  if (waker.known() && waker != self_) {
    event.kind = EventKind::semaphore_wait;
    event.duration = Nanoseconds{gap.until - gap.from};
    event.subject = context_.objects.wake_ups(self_, waker).value;
    const std::uint32_t from =
        gap.waker_path != no_path ? context_.site_of_path(gap.waker_path) : no_site;
    context_.wake_ups[waker.index()].push_back({gap.ready, event.object(), from});
  } else if (!io_calls_.empty() && io_calls_.back().event + 1 == thread_.events.size()) {
    thread_.events.back().duration += Nanoseconds{gap.ready - gap.from};
    return;
  } else {
    if (outside_waits_.empty() && io_calls_.empty() &&
        gap.until - gap.from >= shortest_external_wait_ns) {
      ++context_.unexplained_waits;
      context_.unexplained_ns += gap.until - gap.from;
    }
    short_waits_ns_ += gap.ready - gap.from;
    if (short_waits_ns_ < shortest_external_wait_ns)
      return;
    event.kind = EventKind::external_wait;
    event.duration = Nanoseconds{short_waits_ns_};
    short_waits_ns_ = 0;
  }
  event.cpu = cpu_until(gap.from);
  emit(event, site);
}

void ThreadBuilder::visit_signal_wait(const longpole_record& record, unsigned flags) {
  if ((flags & LONGPOLE_BEGINS) != 0) {
    const ThreadSignals::Wait wait = next_signal_wait_ < signals_.waits.size()
                                         ? signals_.waits[next_signal_wait_]
                                         : ThreadSignals::Wait{};
    ++next_signal_wait_;
    if (wait.returned && !wait.ended_by) {
      visit_outside_wait(record, flags);
      return;
    }
    emit_unrecorded(last_time_);
    outside_waits_.clear();
    const ObjectId semaphore =
        wait.ended_by ? context_.objects.signals(self_, wait.ended_by->signal) : ObjectId::none();
    emit_stand_in(EventKind::semaphore_wait, last_time_, semaphore,
                  context_.sites.add(record.site, {}));
    thread_.events.back().outcome = Outcome::unfinished;
    pending_.push_back({LONGPOLE_SIGNAL_WAIT, 0, thread_.events.size() - 1});
    return;
  }
  const auto call = std::find_if(pending_.rbegin(), pending_.rend(), [](const Pending& pending) {
    return pending.kind == LONGPOLE_SIGNAL_WAIT;
  });
  if (call == pending_.rend()) {
    visit_outside_wait(record, flags);
    return;
  }
  finish_call(call->event, record.result, last_time_);
  pending_.erase(std::prev(call.base()), pending_.end());
  free_from_ = last_time_;
}

void ThreadBuilder::visit_signal_send(const longpole_record& record) {
  emit_unrecorded(last_time_);
  if (next_signal_send_ < signals_.sends.size())
    if (const std::optional<SignalEdge>& edge = signals_.sends[next_signal_send_])
      emit_stand_in(EventKind::semaphore_post, last_time_,
                    context_.objects.signals(edge->woken, edge->signal),
                    context_.sites.add(record.site, {}));
  ++next_signal_send_;
  if (pending_.empty())
    free_from_ = last_time_;
}

void ThreadBuilder::visit_futex_wait(const longpole_record& record, unsigned flags) {
  if ((flags & LONGPOLE_BEGINS) != 0) {
    const ThreadFutexes::Wait wait = next_futex_wait_ < futexes_.waits.size()
                                         ? futexes_.waits[next_futex_wait_]
                                         : ThreadFutexes::Wait{};
    ++next_futex_wait_;
    if (!wait.ended_by && !wait.barrier) {
      visit_outside_wait(record, flags);
      return;
    }
    emit_unrecorded(last_time_);
    outside_waits_.clear();
    const std::uint32_t site = context_.sites.add(record.site, candidates_);
    candidates_.clear();
    if (wait.barrier)
      emit_arrival(*wait.barrier, context_.objects.barrier(wait.barrier->number, site), site);
    else
      emit_stand_in(EventKind::semaphore_wait, last_time_,
                    context_.objects.wake_ups(self_, *wait.ended_by), site);
    thread_.events.back().outcome = Outcome::unfinished;
    pending_.push_back({LONGPOLE_FUTEX_WAIT, record.object, thread_.events.size() - 1});
    return;
  }
  const auto call = std::find_if(pending_.rbegin(), pending_.rend(), [&](const Pending& pending) {
    return pending.kind == LONGPOLE_FUTEX_WAIT && pending.object == record.object;
  });
  if (call == pending_.rend()) {
    visit_outside_wait(record, flags);
    return;
  }
  finish_call(call->event, 0, last_time_);
  pending_.erase(std::prev(call.base()), pending_.end());
  free_from_ = last_time_;
}

void ThreadBuilder::visit_futex_wake(const longpole_record& record) {
  const std::vector<std::uint64_t> candidates = std::exchange(candidates_, {});
  if (next_futex_wake_ >= futexes_.wakes.size())
    return;
  const ThreadFutexes::Wake& wake = futexes_.wakes[next_futex_wake_++];
  if (wake.woken.empty() && !wake.barrier)
    return;
  emit_unrecorded(last_time_);
  const std::uint32_t site = context_.sites.add(record.site, candidates);
  if (wake.barrier)
    emit_arrival(*wake.barrier, context_.objects.barrier(wake.barrier->number, no_site), site);
  for (const ThreadId woken : wake.woken)
    emit_stand_in(EventKind::semaphore_post, last_time_, context_.objects.wake_ups(woken, self_),
                  site);
  if (pending_.empty())
    free_from_ = last_time_;
}

void ThreadBuilder::emit_arrival(const FutexBarrier& barrier, ObjectId object, std::uint32_t site) {
  emit_stand_in(EventKind::barrier_wait, last_time_, object, site);
  thread_.events.back().other = barrier.parties;
}

// The call never returned: what follows it is what the thread did on its way out.
void ThreadBuilder::begin_cancelled_call(const longpole_record& record) {
  emit_unrecorded(last_time_);
  const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
  next_io_ += kind == LONGPOLE_IO ? 1 : 0;
  next_signal_wait_ += kind == LONGPOLE_SIGNAL_WAIT ? 1 : 0;
  next_futex_wait_ += kind == LONGPOLE_FUTEX_WAIT ? 1 : 0;
  const std::uint32_t site = context_.sites.add(record.site, candidates_);
  candidates_.clear();
  outside_waits_.clear();
  const bool on_condition = kind == LONGPOLE_CONDITION_WAIT || kind == LONGPOLE_CONDITION_TIMEDWAIT;
  const ObjectId mutex =
      on_condition ? context_.objects.use(ObjectKind::mutex, other_of(record), last_time_, site)
                   : ObjectId::none();
  if (on_condition)
    emit_stand_in(EventKind::mutex_unlock, last_time_, mutex, site);
  emit_stand_in(EventKind::semaphore_wait, last_time_, context_.objects.signals(self_, 0), site);
  cancelled_wait_ = thread_.events.size() - 1;
  if (on_condition)
    emit_stand_in(EventKind::mutex_lock, last_time_, mutex, site);
}

// CPU time is known of few moments where there is no kernel source, so what is said of that since the wait began may be
// more than there was since the cancellation. The wait ends behind that all the same: else nobody would have ended it.
void ThreadBuilder::end_cancelled_call() {
  if (!cancelled_wait_)
    return;
  const std::int64_t cpu = std::max(times_.cpu.at(last_time_), cpu_so_far_) - cpu_so_far_;
  Event& wait = thread_.events[*cancelled_wait_];
  const std::int64_t woken = std::max(last_time_ - cpu, signals_.cancelled_at + 1);
  wait.duration = Nanoseconds{std::max<std::int64_t>(woken - wait.time.count(), 0)};
  for (std::size_t i = *cancelled_wait_ + 1; i < thread_.events.size(); ++i)
    thread_.events[i].time = wait.time + wait.duration;
  cancelled_wait_.reset();
  free_from_ = last_time_;
}

// What the thread sleeps in such a call is an external wait of its line; the call itself is no event.
void ThreadBuilder::visit_outside_wait(const longpole_record& record, unsigned flags) {
  emit_unrecorded(last_time_);
  if ((flags & LONGPOLE_BEGINS) != 0) {
    outside_waits_.push_back(context_.sites.add(record.site, candidates_));
    candidates_.clear();
  } else if (!outside_waits_.empty()) {
    outside_waits_.pop_back();
  }
}

void ThreadBuilder::visit_io(const longpole_record& record, unsigned flags) {
  emit_unrecorded(last_time_);
  if ((flags & LONGPOLE_BEGINS) != 0)
    begin_io(record);
  else if (!io_calls_.empty())
    end_io(record);
}

void ThreadBuilder::begin_io(const longpole_record& record) {
  const std::vector<std::optional<ChannelUse>>& uses = context_.channels.uses[self_.index()];
  IoCall call{.event = 0,
              .site = context_.sites.add(record.site, {}),
              .descriptor = record.object,
              .way = record.result,
              .use = next_io_ < uses.size() ? uses[next_io_] : std::nullopt};
  ++next_io_;
  // A read that finds its data makes room at once, however late it returns.
  if (call.use && (!call.use->reads || !call.use->waits))
    give_tokens(*call.use, call.site);
  if (call.use && call.use->waits) {
    emit_stand_in(EventKind::semaphore_wait, last_time_, tokens_of(*call.use, !call.use->reads),
                  call.site);
    thread_.events.back().outcome = Outcome::unfinished;
    pending_.push_back({LONGPOLE_IO, 0, thread_.events.size() - 1});
  } else {
    emit_io(call.descriptor, call.site);
  }
  call.event = thread_.events.size() - 1;
  io_calls_.push_back(call);
}

void ThreadBuilder::end_io(const longpole_record& record) {
  IoCall call = io_calls_.back();
  io_calls_.pop_back();
  if (call.use && call.use->waits) {
    const auto pending = std::ranges::find(pending_, call.event, &Pending::event);
    if (pending != pending_.end())
      pending_.erase(pending, pending_.end());
    finish_call(call.event, 0, last_time_);
    emit_io(call.descriptor, call.site);
    call.event = thread_.events.size() - 1;
  }
  Event& event = thread_.events[call.event];
  if (record.result != 0) {
    event.outcome = Outcome::failed;
  } else if (call.way == LONGPOLE_IO_OPENS) {
    event.subject = static_cast<std::uint32_t>(record.object);
  } else if (call.way == LONGPOLE_IO_READS || call.way == LONGPOLE_IO_WRITES) {
    event.other = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(record.object, std::uint64_t{unknown_count} - 1));
  }
  if (call.use && call.use->reads && call.use->waits)
    give_tokens(*call.use, call.site);
  if (pending_.empty())
    free_from_ = last_time_;
}

// Input or output that has not slept so far.
void ThreadBuilder::emit_io(std::uint64_t descriptor, std::uint32_t site) {
  Event event;
  event.kind = EventKind::external_wait;
  event.time = Nanoseconds{last_time_};
  event.cpu = cpu_until(last_time_);
  event.subject = static_cast<std::uint32_t>(descriptor);  // -1 where there is none
  emit(event, site);
}

void ThreadBuilder::give_tokens(const ChannelUse& use, std::uint32_t site) {
  for (std::uint32_t i = 0; i < use.gives; ++i)
    emit_stand_in(EventKind::semaphore_post, last_time_, tokens_of(use, use.reads), site);
}

ObjectId ThreadBuilder::tokens_of(const ChannelUse& use, bool room) {
  const std::uint32_t site = context_.sites.add(context_.channels.channels[use.channel].site, {});
  return context_.objects.channel(use.channel, room, site);
}

// Of threads that ended with the program.
void ThreadBuilder::leave_unfinished_io() {
  for (const IoCall& call : io_calls_)
    if (call.event + 1 == thread_.events.size())
      thread_.events.back().outcome = Outcome::unfinished;
}

}  // namespace longpole::recording
