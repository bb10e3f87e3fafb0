#include "simulation/synchronization.h"

#include <algorithm>

namespace longpole::simulation {
namespace {

bool is_fixed_wait(const Event& event) {
  return event.outcome == Outcome::timeout ||
         (event.outcome != Outcome::unfinished &&
          (event.kind == EventKind::sleep || event.kind == EventKind::io ||
           (event.kind == EventKind::external_wait && event.duration > Nanoseconds{})));
}

// Where a cancelled thread of a program file ends (pthreads(7)); a mutex, a rwlock and a barrier
// are none.
bool is_cancellation_point(EventKind kind) {
  switch (kind) {
    case EventKind::thread_join:
    case EventKind::semaphore_wait:
    case EventKind::semaphore_timedwait:
    case EventKind::condition_wait:
    case EventKind::condition_timedwait:
    case EventKind::sleep:
    case EventKind::io:
    case EventKind::external_wait:
    case EventKind::send:
    case EventKind::receive:
      return true;
    default:
      return false;
  }
}

// Nothing but its recorded end says that a thread whom nobody joins was waited for: by spinning, or by
// calls that are not recorded. Whoever was in a call that never returned did not end by itself.
bool ends_before(const Thread& thread, const Event& exit) {
  const std::vector<Event>& events = thread.events;
  return !events.empty() && events.back().kind == EventKind::thread_end &&
         events.back().time < exit.time &&
         (events.size() < 2 || events[events.size() - 2].outcome != Outcome::unfinished);
}

}  // namespace

Survey::Survey(const Recording& recording, const WaitFors* pairs)
    : fixed_waits(recording.threads.size(), 0),
      created(recording.threads.size(), false),
      ends_before_exit(recording.threads.size(), false),
      condition_mutex(recording.objects.size(), nobody),
      wait_fors(pairs == nullptr || pairs->empty() ? nullptr : pairs),
      conditions(recording, wait_fors),
      releases(recording) {
  const Event* exit = nullptr;
  std::size_t exiting = 0;
  for (std::size_t t = 0; t < recording.threads.size(); ++t) {
    std::int64_t locks = 0;
    for (const Event& event : recording.threads[t].events) {
      __builtin_prefetch(&event + 24);  // memory is what this waits for
      work += event.cpu;
      if (is_fixed_wait(event)) {
        ++fixed_waits[t];
        work += event.duration;
      }
      spins |= event.spins();
      switch (event.kind) {
        case EventKind::mutex_trylock:
          has_rings |= event.outcome == Outcome::ok;
          [[fallthrough]];
        case EventKind::mutex_lock:
        case EventKind::mutex_timedlock:
          locks += event.outcome == Outcome::ok ? 1 : 0;
          break;
        case EventKind::mutex_unlock:
          locks -= event.outcome == Outcome::ok ? 1 : 0;
          break;
        case EventKind::thread_join:
          has_rings |= locks > 0;
          break;
        case EventKind::thread_create:
          if (event.subject < created.size() &&
              (event.outcome == Outcome::ok || event.outcome == Outcome::unfinished))
            created[event.subject] = true;
          break;
        case EventKind::condition_wait:
        case EventKind::condition_timedwait:
          if (event.subject < condition_mutex.size() && condition_mutex[event.subject] == nobody)
            condition_mutex[event.subject] = event.other;
          break;
        case EventKind::condition_signal:
        case EventKind::condition_broadcast:
          has_open_counts |= event.other == unknown_count;
          break;
        case EventKind::program_exit:
          if (exit == nullptr)
            exiting = t;
          if (exiting == t)
            exit = &event;
          break;
        default:
          break;
      }
    }
  }
  for (std::size_t t = 0; exit != nullptr && t < ends_before_exit.size(); ++t)
    ends_before_exit[t] = t != exiting && recording.run.source != Source::program &&
                          ends_before(recording.threads[t], *exit);
}

Synchronization::Synchronization(const Recording& recording, const Survey& survey, Rules rules)
    : recording_(recording),
      survey_(survey),
      pairs_(survey.wait_fors),
      rules_(rules),
      written_(recording.run.source == Source::program),
      is_direct_(!written_ && pairs_ == nullptr),
      objects_(recording.objects.size()),
      threads_(recording.threads.size()) {
  released_.reserve(recording.threads.size() + 1);
  bool has_rwlocks = false;
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    objects_[i].count = recording.objects[i].initial;
    has_rwlocks |= recording.objects[i].kind == ObjectKind::rwlock;
  }
  if (has_rwlocks)
    reads_.resize(threads_.size());
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    threads_[t].started = !survey.created[t];
    if (const auto passes = survey.conditions.passes(static_cast<std::uint32_t>(t));
        !passes.empty())
      threads_[t].next_pass = &recording.threads[t].events[passes.front().event];
    to_end_ += survey.ends_before_exit[t] ? 1U : 0U;
  }
  if (pairs_ == nullptr)
    return;
  for (const WaitFors::WaitFor& wait : pairs_->waits())
    missing_.push_back(wait.missing);
  lists_.resize(threads_.size());
  for (std::uint32_t t = 0; t < threads_.size(); ++t)
    threads_[t].lists_left = pairs_->lists(t);
}

Next Synchronization::call_of_any_kind(std::uint32_t thread, const Event& event) {
  threads_[thread].at = &event;
  Next next = Next::runs;
  if (event.kind == EventKind::thread_end)
    next = threads_[thread].lists_left == 0 ? end(thread) : next_list(thread);
  else if (event.outcome != Outcome::ok) [[unlikely]]
    next = perform_not_ok(thread, event);
  else
    next = perform(thread, event);
  if (next == Next::runs || next == Next::jumps)
    threads_[thread].at = nullptr;
  return next;
}

Next Synchronization::perform(std::uint32_t thread, const Event& event) {
  if (written_ && threads_[thread].cancelled && is_cancellation_point(event.kind)) [[unlikely]]
    return end(thread);
  if (is_paired(event)) [[unlikely]]
    return perform_paired(thread, event);
  switch (event.kind) {
    case EventKind::run:
    case EventKind::enter:
    case EventKind::leave:
    case EventKind::thread_detach:
    case EventKind::yield:
      return Next::runs;
    case EventKind::thread_create:
      return create(event.subject);
    case EventKind::thread_join:
      return stays_at(thread, event, join(thread, event.subject));
    case EventKind::thread_cancel:
      cancel(event.subject);
      return Next::runs;
    case EventKind::thread_end:
      return end(thread);
    case EventKind::program_exit:
      exiting_ = thread;
      return to_end_ == 0 ? Next::runs : Next::blocks;
    case EventKind::mutex_lock:
      return stays_at(thread, event, lock_or_pass(thread, event));
    case EventKind::mutex_trylock:
    case EventKind::mutex_timedlock:
      return stays_at(thread, event, lock(thread, event.subject));
    case EventKind::mutex_unlock:
      unlock(thread, event.subject);
      return Next::runs;
    case EventKind::rwlock_read:
      return lock_to_read(thread, event.subject);
    case EventKind::rwlock_write:
      return lock_to_write(thread, event.subject);
    case EventKind::rwlock_unlock:
      unlock_rwlock(thread, event.subject);
      return Next::runs;
    case EventKind::semaphore_wait:
    case EventKind::semaphore_trywait:
    case EventKind::semaphore_timedwait:
      return decrement(thread, event.subject);
    case EventKind::semaphore_post:
      increment(event.subject);
      return Next::runs;
    case EventKind::condition_wait:
    case EventKind::condition_timedwait:
      return wait_for_condition(thread, event);
    case EventKind::condition_signal:
    case EventKind::condition_broadcast:
      return notify(thread, event);
    case EventKind::barrier_wait:
      return arrive(thread, event);
    case EventKind::sleep:
      return Next::waits;
    case EventKind::external_wait:
      return is_fixed_wait(event) ? Next::waits : Next::runs;
    case EventKind::io:
      return use_device(thread, event.subject);
    case EventKind::send:
      return send(thread, event);
    case EventKind::receive:
      return receive(thread, event);
  }
  return Next::runs;
}

Next Synchronization::perform_not_ok(std::uint32_t thread, const Event& event) {
  if (event.outcome == Outcome::unfinished)
    return stop(thread, event);
  if (!is_fixed_wait(event))
    return Next::runs;  // busy or failed: it changed nothing
  if (written_ && threads_[thread].cancelled && is_cancellation_point(event.kind))
    return end(thread);
  if (event.outcome == Outcome::timeout && event.kind == EventKind::condition_timedwait) {
    if (is_paired(event))
      return perform_paired(thread, event);
    return poll(thread, event);
  }
  return Next::waits;
}

// The call had not returned when the recording ended, or its thread was cancelled in it. What it
// had already done to others is done; and then its thread never goes on, unless it is cancelled.
Next Synchronization::stop(std::uint32_t thread, const Event& event) {
  if (event.subject != unknown_count && is_paired(event)) {
    happens(pairs_->key_of(thread, index_of(thread, event)));
  } else if (event.subject != unknown_count) {
    switch (event.kind) {
      case EventKind::thread_create:
      case EventKind::thread_cancel:
      case EventKind::mutex_unlock:
      case EventKind::rwlock_unlock:
      case EventKind::semaphore_post:
      case EventKind::condition_signal:
      case EventKind::condition_broadcast:
      case EventKind::barrier_wait:
        static_cast<void>(perform(thread, event));
        break;
      case EventKind::send:
        if (event.other != unknown_count)
          static_cast<void>(perform(thread, event));
        break;
      default:
        break;
    }
  }
  // Only now: it may have cancelled itself.
  ThreadState& state = threads_[thread];
  if (&event == &recording_.threads[thread].events.back())
    finish(thread);
  else if (state.cancelled)
    return Next::runs;
  else
    abandon_locks(thread);
  state.stopped = true;
  return Next::blocks;
}

Next Synchronization::wait_over(std::uint32_t thread, const Event& event) {
  released_.clear();
  if (event.kind == EventKind::io) {
    release_device(thread, event.subject);
  } else if (event.kind == EventKind::condition_timedwait && is_paired(event)) {
    threads_[thread].polls_for = nobody;
    if (wait_for(thread, pairs_->wait_of(thread, index_of(thread, event))) == Next::blocks)
      return Next::blocks;
  } else if (event.kind == EventKind::condition_timedwait) {
    if (poll_over(thread) == Next::blocks)
      return Next::blocks;
  }
  threads_[thread].at = nullptr;
  return Next::runs;
}

// A thread that was woken because what it waits for was free.
Next Synchronization::retry(std::uint32_t thread, const Event& event) {
  released_.clear();
  threads_[thread].at = &event;
  Next next = Next::runs;
  if (threads_[thread].retake == nobody) {
    next = perform(thread, event);
    objects_[event.subject].waited_for = true;
  } else if (!retake_mutex(thread)) {
    next = Next::blocks;
  }
  if (next == Next::runs)
    threads_[thread].at = nullptr;
  return next;
}

void Synchronization::out_of_events(std::uint32_t thread) {
  if (!threads_[thread].finished)
    finish(thread);
}

Next Synchronization::end(std::uint32_t thread) {
  finish(thread);
  return Next::ends;
}

void Synchronization::finish(std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  const bool was_awaited = survey_.ends_before_exit[thread] && !state.finished;
  state.finished = true;
  state.at = nullptr;
  if (!written_)
    abandon_locks(thread);
  while (!state.joiners.empty())
    release(pop(state.joiners));
  if (was_awaited && --to_end_ == 0 && exiting_ != nobody)
    release(exiting_);
  if (pairs_ != nullptr)
    happens(pairs_->key_of_end(thread));
}

Next Synchronization::create(std::uint32_t thread) {
  if (!threads_[thread].started) {
    threads_[thread].started = true;
    release(thread);
  }
  return Next::runs;
}

Next Synchronization::join(std::uint32_t thread, std::uint32_t target) {
  if (threads_[target].finished)
    return Next::runs;
  push(threads_[target].joiners, thread);
  return Next::blocks;
}

void Synchronization::cancel(std::uint32_t target) {
  ThreadState& state = threads_[target];
  if (state.finished || state.cancelled)
    return;
  state.cancelled = true;
  if (written_) {
    cancel_written(target);
  } else if (state.stopped) {
    state.stopped = false;
    release(target);
  }
}

void Synchronization::cancel_written(std::uint32_t target) {
  const Event* at = threads_[target].at;
  if (at == nullptr || threads_[target].retaking || !is_cancellation_point(at->kind))
    return;
  leave_queues(target, *at);
  release(target, Next::ends);
  finish(target);
}

void Synchronization::leave_queues(std::uint32_t thread, const Event& event) {
  if (is_paired(event)) {
    threads_[thread].waits_for = nobody;
    threads_[thread].between_lists = false;
    return;
  }
  switch (event.kind) {
    case EventKind::thread_join:
      remove(threads_[event.subject].joiners, thread);
      break;
    case EventKind::semaphore_wait:
    case EventKind::semaphore_timedwait:
      remove(objects_[event.subject].queue, thread);
      break;
    case EventKind::condition_wait:
    case EventKind::condition_timedwait:
      if (event.outcome == Outcome::ok) {
        remove(objects_[event.subject].queue, thread);
        --objects_[event.subject].count;
      }
      break;
    case EventKind::io:
      remove(objects_[event.subject].queue, thread);
      release_device(thread, event.subject);
      break;
    case EventKind::send:
      remove(mailbox(event.subject, event.other).senders, thread);
      break;
    case EventKind::receive:
      mailbox(event.subject, thread).receiver_waits = false;
      break;
    default:
      break;
  }
}

Next Synchronization::arrive(std::uint32_t thread, const Event& event) {
  ObjectState& barrier = objects_[event.subject];
  if (event.other == unknown_count)
    return Next::runs;
  if (++barrier.count < event.other) {
    push(barrier.queue, thread);
    return Next::blocks;
  }
  barrier.count = 0;
  while (!barrier.queue.empty())
    release(pop(barrier.queue));
  return Next::runs;
}

Next Synchronization::use_device(std::uint32_t thread, std::uint32_t device) {
  if (device == unknown_count || rules_.parallel_devices)
    return Next::waits;
  ObjectState& state = objects_[device];
  if (state.owner == nobody) {
    state.owner = thread;
    return Next::waits;
  }
  push(state.queue, thread);
  return Next::blocks;
}

void Synchronization::release_device(std::uint32_t thread, std::uint32_t device) {
  if (device == unknown_count || objects_[device].owner != thread)
    return;
  ObjectState& state = objects_[device];
  state.owner = state.queue.empty() ? nobody : pop(state.queue);
  if (state.owner != nobody)
    release(state.owner, Next::waits);
}

Synchronization::Mailbox& Synchronization::mailbox(std::uint32_t channel, std::uint32_t receiver) {
  return mailboxes_[std::uint64_t{channel} << 32U | receiver];
}

Next Synchronization::send(std::uint32_t thread, const Event& event) {
  Mailbox& box = mailbox(event.subject, event.other);
  if (box.receiver_waits) {
    box.receiver_waits = false;
    release(event.other);
    return Next::runs;
  }
  push(box.senders, thread);
  return Next::blocks;
}

Next Synchronization::receive(std::uint32_t thread, const Event& event) {
  Mailbox& box = mailbox(event.subject, thread);
  if (!box.senders.empty()) {
    release(pop(box.senders));
    return Next::runs;
  }
  box.receiver_waits = true;
  return Next::blocks;
}

void Synchronization::remove(Queue& queue, std::uint32_t thread) {
  std::uint32_t before = nobody;
  for (std::uint32_t at = queue.head; at != nobody; before = at, at = threads_[at].next) {
    if (at != thread)
      continue;
    if (before == nobody)
      queue.head = threads_[at].next;
    else
      threads_[before].next = threads_[at].next;
    if (queue.tail == thread)
      queue.tail = before;
    return;
  }
}

}  // namespace longpole::simulation
