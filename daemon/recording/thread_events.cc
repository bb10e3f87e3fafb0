#include "recording/thread_events.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "recording/call_forms.h"
#include "recording/thread_builder.h"

namespace longpole::recording {

// CPU time since the last event, without what recording cost.
Nanoseconds ThreadBuilder::cpu_until(std::int64_t time) {
  const std::int64_t cpu = std::max(times_.cpu.at(time), cpu_so_far_);
  const std::int64_t used = cpu - cpu_so_far_;
  cpu_so_far_ = cpu;
  const std::int64_t cost = std::min(cost_ps_ / 1000, used);
  cost_ps_ -= cost * 1000;
  thread_.recording_ns += cost;
  return Nanoseconds{used - cost};
}

void ThreadBuilder::emit(Event event, std::uint32_t site) {
  if (!thread_.events.empty() && thread_.events.back().kind == EventKind::thread_end) {
    // It was on its way out and went on: destructors of the program that run after ours.
    event.cpu += thread_.events.back().cpu;
    thread_.events.pop_back();
    thread_.sites.pop_back();
  }
  thread_.events.push_back(event);
  thread_.sites.push_back(site);
}

void ThreadBuilder::visit(const longpole_record& record) {
  const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
  const unsigned flags = LONGPOLE_FLAGS(record.kind_and_flags);
  if (kind == LONGPOLE_FRAMES) {
    for (const std::uint64_t address : {record.object, other_of(record)})
      if (address != 0)
        candidates_.push_back(address);
    return;
  }
  if (kind == LONGPOLE_SAMPLE || kind == LONGPOLE_CPU_CLOCK || is_thread_attribute(kind) ||
      tells_of_descriptors(kind))
    return;  // read before, see merge.cc
  last_time_ = std::max(last_time_, context_.time_of(record.tsc));
  if (kind == LONGPOLE_AGAIN) {
    written_twice_ = true;
    return;
  }
  if (kind == LONGPOLE_OVERHEAD) {
    take_out_overhead(context_.time_of(record.tsc - std::min(record.object, record.tsc)));
    return;
  }
  if (kind == LONGPOLE_TURN) {
    take_out_turn(record);
    return;
  }
  if (kind == LONGPOLE_FUNCTION_ENTER || kind == LONGPOLE_FUNCTION_LEAVE) {
    cost_ps_ += static_cast<std::int64_t>(context_.function_cost_ps);
    visit_function(record, kind == LONGPOLE_FUNCTION_ENTER);
    return;
  }
  add_cost(record);
  if (context_.is_inside_runtime(record))
    return;
  if (kind == LONGPOLE_TASK) {
    visit_task(flags);
    return;
  }
  end_cancelled_call();
  if ((flags & LONGPOLE_BEGINS) != 0 && signals_.cancelled_in == record.tsc) {
    begin_cancelled_call(record);
    return;
  }
  if (kind == LONGPOLE_SIGNAL_WAIT) {
    visit_signal_wait(record, flags);
    return;
  }
  if (kind == LONGPOLE_SIGNAL_SEND) {
    visit_signal_send(record);
    return;
  }
  if (kind == LONGPOLE_IO) {
    visit_io(record, flags);
    return;
  }
  if (kind == LONGPOLE_FUTEX_WAIT) {
    visit_futex_wait(record, flags);
    return;
  }
  if (kind == LONGPOLE_FUTEX_WAKE) {
    visit_futex_wake(record);
    return;
  }
  const std::optional<CallForm> form = call_form(kind);
  if (!form || (kind == LONGPOLE_YIELD && !pending_.empty()))
    return;
  outside_waits_.clear();
  if (kind == LONGPOLE_THREAD_END)
    ends_program_ = record.object != 0;
  if ((flags & LONGPOLE_RETURNS) != 0) {
    const auto call = std::find_if(pending_.rbegin(), pending_.rend(), [&](const Pending& pending) {
      return pending.kind == kind &&
             (pending.object == record.object || kind == LONGPOLE_TEAM_WAIT);
    });
    if (call != pending_.rend()) {
      finish_call(call->event, record.result, last_time_);
      if (kind == LONGPOLE_TEAM_WAIT)
        end_wait_for_team(call->event, record);
      if (burns_cpu_while_it_waits(kind))
        forget_spinning(thread_.events[call->event].time.count());
      else if (kind == LONGPOLE_SLEEP)
        limit_sleep(thread_.events[call->event], record.object);
      pending_.erase(std::prev(call.base()), pending_.end());
      free_from_ = last_time_;
      return;
    }
  }
  begin_call(record, *form, last_time_);
  const std::size_t event = thread_.events.size() - 1;
  if ((flags & LONGPOLE_BEGINS) != 0) {
    thread_.events[event].outcome = Outcome::unfinished;
    pending_.push_back({kind, record.object, event});
    return;
  }
  finish_call(event, record.result, last_time_);
  if (kind == LONGPOLE_CANCEL && next_cancel_ < signals_.cancels.size())
    if (const std::optional<SignalEdge>& edge = signals_.cancels[next_cancel_++])
      emit_stand_in(EventKind::semaphore_post, last_time_, context_.objects.signals(edge->woken, 0),
                    thread_.sites.back());
  if (pending_.empty())
    free_from_ = last_time_;
}

// Of what was written since the record before; of a call that waits, at its return.
void ThreadBuilder::add_cost(const longpole_record& record) {
  const unsigned flags = LONGPOLE_FLAGS(record.kind_and_flags);
  if (entered_kernel_)
    cost_ps_ += static_cast<std::int64_t>(context_.kernel_entry_cost_ps);
  entered_kernel_ = context_.kernel_entries.contains(self_, record);
  if ((flags & (LONGPOLE_BEGINS | LONGPOLE_RETURNS)) != 0 &&
      context_.wait_cost_ps != 0) {  // 0: nobody measured it
    if ((flags & LONGPOLE_RETURNS) != 0)
      cost_ps_ += static_cast<std::int64_t>(
          context_.wait_cost_ps + (may_be_interrupted(LONGPOLE_KIND(record.kind_and_flags))
                                       ? context_.interruptible_cost_ps
                                       : 0));
    written_twice_ = false;
    plain_site_.reset();
    return;
  }
  const bool is_plain = may_be_written_twice(record);
  const RecordCosts::Cost cost = plain_site_ && is_plain
                                     ? context_.costs.of(*plain_site_, record.site)
                                     : context_.costs.beside_no_call();
  cost_ps_ += cost.once + (written_twice_ ? cost.again : 0);
  written_twice_ = false;
  plain_site_.reset();
  if (is_plain)
    plain_site_ = record.site;
}

void ThreadBuilder::emit_stand_in(EventKind kind, std::int64_t time, ObjectId object,
                                  std::uint32_t site) {
  Event event;
  event.kind = kind;
  event.time = Nanoseconds{time};
  event.cpu = cpu_until(time);
  event.subject = object.value;
  emit(event, site);
}

// What has no token, a wait for tasks or that of a thread that never had a team, takes no time: nobody knows for
// whom.
void ThreadBuilder::end_wait_for_team(std::size_t index, const longpole_record& record) {
  Event& event = thread_.events[index];
  if (record.object == 0) {
    event.kind = EventKind::external_wait;
    event.duration = Nanoseconds{};
    return;
  }
  thread_.sites[index] = context_.sites.add(record.site, {});
  event.subject =
      context_.objects.use(ObjectKind::semaphore, record.object, last_time_, thread_.sites[index])
          .value;
}

// In a wait, which is put off: what it computed for the task counts, and the calls that it made
// come before it.
void ThreadBuilder::visit_task(unsigned flags) {
  if ((flags & LONGPOLE_BEGINS) != 0) {
    if (pending_.empty() || (pending_.back().kind != LONGPOLE_TEAM_BARRIER &&
                             pending_.back().kind != LONGPOLE_TEAM_WAIT))
      return;
    put_off_.push_back(pending_.back());
    pending_.pop_back();
    forget_spinning(thread_.events[put_off_.back().event].time.count());
    free_from_ = last_time_;
    return;
  }
  if (put_off_.empty())
    return;
  emit_unrecorded(last_time_);
  Pending call = put_off_.back();
  put_off_.pop_back();
  Event event = thread_.events[call.event];
  const std::uint32_t site = thread_.sites[call.event];
  const auto place = static_cast<std::ptrdiff_t>(call.event);
  thread_.events.erase(thread_.events.begin() + place);
  thread_.sites.erase(thread_.sites.begin() + place);
  const Nanoseconds before_task = event.cpu;
  event.cpu = cpu_until(last_time_);
  (call.event < thread_.events.size() ? thread_.events[call.event] : event).cpu += before_task;
  event.time = Nanoseconds{last_time_};
  emit(event, site);
  call.event = thread_.events.size() - 1;
  pending_.push_back(call);
}

void ThreadBuilder::visit_function(const longpole_record& record, bool enters) {
  emit_unrecorded(last_time_);
  const std::size_t depth = record.result;
  const std::uint32_t function = context_.functions.add(record.object);
  if (enters) {
    leave_functions(depth);
    entered_.push_back({depth, function});
    Event event;
    event.kind = EventKind::enter;
    event.time = Nanoseconds{last_time_};
    event.cpu = cpu_until(last_time_);
    event.subject = function;
    emit(event, context_.sites.add(record.site, {}));
  } else {
    leave_functions(depth + 1);
    if (!entered_.empty() && entered_.back().depth == depth && entered_.back().function == function)
      leave_functions(depth);
  }
  if (pending_.empty())
    free_from_ = last_time_;
}

// From `begin` to now, with what recording slept: for the disk, or for another thread at the same file.
void ThreadBuilder::take_out_overhead(std::int64_t begin) {
  emit_unrecorded(begin);
  while (next_gap_ < times_.gaps.size() && times_.gaps[next_gap_].from < last_time_)
    ++next_gap_;
  add_measured_cost(times_.cpu.at(last_time_) - times_.cpu.at(std::min(begin, last_time_)));
}

void ThreadBuilder::add_measured_cost(std::int64_t cost_ns) {
  cost_ps_ += cost_ns * 1000;
  measured_cost_ps_ += cost_ns * 1000;
}

// What waits for a spin lock gives all its CPU time away, see forget_spinning().
void ThreadBuilder::take_out_turn(const longpole_record& record) {
  constexpr std::uint64_t longest_ns = 10'000'000'000;
  cost_ps_ += context_.costs.beside_no_call().once;
  if ((LONGPOLE_FLAGS(record.kind_and_flags) & LONGPOLE_RETURNS) != 0 &&
      (pending_.empty() || !burns_cpu_while_it_waits(pending_.back().kind)))
    add_measured_cost(static_cast<std::int64_t>(std::min(record.object, longest_ns)));
}

// Those that more than so many others surround.
void ThreadBuilder::leave_functions(std::size_t depth) {
  for (; !entered_.empty() && entered_.back().depth >= depth; entered_.pop_back()) {
    Event event;
    event.kind = EventKind::leave;
    event.time = Nanoseconds{last_time_};
    event.cpu = cpu_until(last_time_);
    event.subject = entered_.back().function;
    emit(event, no_site);
  }
}

void ThreadBuilder::begin_call(const longpole_record& record, const CallForm& form,
                               std::int64_t time) {
  emit_unrecorded(time);
  const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
  Event event;
  event.kind = form.event;
  event.time = Nanoseconds{time};
  event.cpu = cpu_until(time);
  const std::uint32_t site = context_.sites.add(record.site, candidates_);
  candidates_.clear();
  last_call_site_ = record.site;
  if (form.has_object && (kind != LONGPOLE_TEAM_WAIT || record.object != 0)) {
    event.subject = context_.objects.use(form.object, record.object, time, site).value;
    if (form.event == EventKind::condition_wait || form.event == EventKind::condition_timedwait)
      event.other = context_.objects.use(ObjectKind::mutex, other_of(record), time, site).value;
    if (kind == LONGPOLE_SPIN_LOCK)
      event.other = Event::burns_cpu;
    if (kind == LONGPOLE_TEAM_BARRIER)
      event.other = static_cast<std::uint32_t>(
          std::clamp<std::uint64_t>(other_of(record), 1, unknown_count - 1));
    else if (form.event == EventKind::barrier_wait)
      event.other =
          std::max(context_.objects.initialized_with(event.object()).value_or(unknown_count), 1U);
  } else if (form.event == EventKind::thread_create) {
    event.subject = context_.created_thread(record.object).value;
  } else if (names_thread(form.event)) {
    event.subject = context_.thread_of_handle(record.object, time).value;
  }
  emit(event, site);
}

void ThreadBuilder::finish_call(std::size_t index, int result, std::int64_t time) {
  Event& event = thread_.events[index];
  event.duration = Nanoseconds{time - event.time.count()};
  if (event.kind == EventKind::thread_end)
    event.outcome = Outcome::ok;
  else if (names_thread(event.kind) && event.subject == unknown_count)
    event.outcome = Outcome::failed;  // of a thread that was not recorded: nothing to simulate
  else
    event.outcome = outcome_of(event.kind, result);
  if (event.kind == EventKind::thread_create && event.outcome == Outcome::failed)
    event.subject = unknown_count;
  if (event.outcome == Outcome::failed && event.duration.count() >= shortest_external_wait_ns) {
    event.kind = EventKind::external_wait;
    event.outcome = Outcome::ok;
    event.subject = unknown_count;
    event.other = unknown_count;
  }
}

// CPU time and samples of waiting for a spin lock: it would be less where nobody has to wait.
void ThreadBuilder::forget_spinning(std::int64_t from) {
  cpu_so_far_ = std::max(times_.cpu.at(last_time_), cpu_so_far_);
  std::erase_if(times_.samples, [&](const TimedSample& sample) {
    return sample.time > from && sample.time <= last_time_;
  });
}

// What came after the time that was asked for, and the kernel's slack, was waiting for a CPU.
void ThreadBuilder::limit_sleep(Event& event, std::uint64_t asked_for_ns) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 62U;
  constexpr Nanoseconds slack{60'000};
  const Nanoseconds asked{static_cast<std::int64_t>(std::min(asked_for_ns, longest))};
  event.duration = std::min(event.duration, asked + slack);
}

// Calls that never returned although the thread went on.
void ThreadBuilder::drop_abandoned_calls() {
  for (std::size_t i = 0; i + 1 < thread_.events.size(); ++i) {
    Event& event = thread_.events[i];
    if (event.outcome != Outcome::unfinished)
      continue;
    const Event& next = thread_.events[i + 1];
    if (event.kind == EventKind::condition_wait || event.kind == EventKind::condition_timedwait) {
      // It had the mutex again before its thread went on, as after a time-out.
      event.kind = EventKind::condition_timedwait;
      event.outcome = Outcome::timeout;
    } else {
      event.kind = EventKind::external_wait;
      event.outcome = Outcome::ok;
      event.subject = unknown_count;
      event.other = unknown_count;
    }
    event.duration = std::max(next.time - event.time - next.cpu, Nanoseconds{});
  }
}

void ThreadBuilder::give_samples_to_events() {
  std::uint32_t event = 0;
  const std::size_t computing = thread_.events.size() - (ends_program_ ? 1 : 0);
  for (const TimedSample& sample : times_.samples) {
    while (event + 1 < computing && thread_.events[event].time.count() < sample.time)
      ++event;
    thread_.samples.push_back({event, sample.path, sample.weight});
  }
}

MergedThread ThreadBuilder::finish() {
  std::vector<Event>& events = thread_.events;
  const bool ended = !events.empty() && events.back().kind == EventKind::thread_end;
  leave_unfinished_io();
  drop_abandoned_calls();
  Event end;
  std::uint32_t end_site = no_site;
  if (ended) {
    end = events.back();
    end_site = thread_.sites.back();
    events.pop_back();
    thread_.sites.pop_back();
  } else {
    end.kind = EventKind::thread_end;
    end.time = Nanoseconds{std::max(last_time_, std::max(times_.died, times_.born))};
    emit_unrecorded(end.time.count());
  }
  // Nobody is to wait for ever for what it did on its way out.
  for (; next_wake_up_ < times_.wake_ups.size(); ++next_wake_up_) {
    emit_wake_up(times_.wake_ups[next_wake_up_]);
    events.back().time = std::min(events.back().time, end.time);
    events.back().cpu += std::exchange(end.cpu, Nanoseconds{});
  }
  // What the thread still did on its way out belongs to its last stretch.
  end.duration = Nanoseconds{};
  end.cpu += cpu_until(std::max({last_time_, times_.died, context_.end_ns}));
  thread_.recording_ns = std::max<std::int64_t>(thread_.recording_ns - measured_cost_ps_ / 1000, 0);
  if (ends_program_) {
    Event exit = std::exchange(end, {.time = end.time, .kind = EventKind::thread_end});
    exit.kind = EventKind::program_exit;
    emit(exit, std::exchange(end_site, no_site));
  }
  emit(end, end_site);
  give_samples_to_events();
  return std::move(thread_);
}

MergedThread make_thread_events(ThreadId self, const RawThread& raw, MergeContext& context,
                                ThreadTimes times) {
  ThreadBuilder builder(self, raw, context, times);
  raw.for_each_record([&](const longpole_record& record) { builder.visit(record); });
  return builder.finish();
}

}  // namespace longpole::recording
