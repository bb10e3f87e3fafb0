#include "simulation/recorded_order.h"

#include <algorithm>

#include "trace/event_kinds.h"

namespace longpole::simulation {
namespace {

bool acquires(const Event& event) {
  if (event.outcome == Outcome::timeout)
    return event.kind == EventKind::condition_timedwait;  // its mutex
  if (event.outcome != Outcome::ok || event.subject == unknown_count)
    return false;
  return event.kind == EventKind::thread_join || meets_others(event.kind);
}

}  // namespace

RecordedOrder::RecordedOrder(const Recording& recording, EnablingConsumer& consumer)
    : recording_(recording),
      consumer_(consumer),
      measured_(recording.run.source == Source::kernel || recording.run.source == Source::portable),
      objects_(recording.objects.size()),
      threads_(recording.threads.size()) {
  for (std::size_t i = 0; i < objects_.size(); ++i)
    objects_[i].count = recording.objects[i].initial;
}

void RecordedOrder::run() {
  std::vector<bool> created(threads_.size(), false);
  for (const Thread& thread : recording_.threads) {
    for (const Event& event : thread.events) {
      if (event.kind == EventKind::thread_create && event.subject < created.size() &&
          (event.outcome == Outcome::ok || event.outcome == Outcome::unfinished))
        created[event.subject] = true;
    }
  }
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    if (!created[t])
      start(t);
  }
  for (;;) {
    if (!turns_.empty()) {
      const auto [time, thread] = turns_.top();
      turns_.pop();
      now_ = std::max(now_, time);
      step(thread);
    } else if (!parked_.empty()) {
      force();
    } else {
      return;
    }
  }
}

void RecordedOrder::start(std::uint32_t thread) {
  if (threads_[thread].started)
    return;
  threads_[thread].started = true;
  schedule(thread);
}

void RecordedOrder::schedule(std::uint32_t thread) {
  const bool ends = threads_[thread].event == recording_.threads[thread].events.size();
  turns_.emplace(ends ? now_ : std::max(now_, event_of(thread).time.count()), thread);
}

void RecordedOrder::step(std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  if (state.event == recording_.threads[thread].events.size()) {
    state.ended = true;
    let_go(state.joiners);
    return;
  }
  const Event& event = event_of(thread);
  if (!state.completing) {
    happens(thread, event);
    if (!acquires(event)) {
      advance(thread);
      return;
    }
    state.completing = true;
    if (event.kind != EventKind::send && event.duration > Nanoseconds{}) {
      turns_.emplace(std::max(now_, (event.time + event.duration).count()), thread);
      return;
    }
  }
  if (acquire(thread, event))
    advance(thread);
}

void RecordedOrder::advance(std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  state.completing = false;
  state.matched = false;
  ++state.event;
  schedule(thread);
}

// Nothing goes on, and the recorded run did.
void RecordedOrder::force() {
  const std::uint32_t thread = std::get<1>(*parked_.begin());
  const Event& event = event_of(thread);
  unpark(thread);
  if (threads_[thread].awaiting)
    await_no_more(event.subject, thread);
  if (event.kind == EventKind::receive)
    mailbox(event.subject, thread).receiver = nobody;
  advance(thread);
}

void RecordedOrder::went_on(std::uint32_t thread, Releaser releaser) {
  if (releaser.thread != nobody && releaser.thread != thread)
    consumer_.enabled(thread, threads_[thread].event, releaser);
}

// What a call does to others when it is made.
void RecordedOrder::happens(std::uint32_t thread, const Event& event) {
  if (event.outcome == Outcome::failed || event.outcome == Outcome::busy ||
      event.subject == unknown_count)
    return;
  const Releaser by{thread, threads_[thread].event};
  switch (event.kind) {
    case EventKind::thread_create:
      start(event.subject);
      return;
    case EventKind::mutex_unlock:
      unlock_mutex(event.subject, by);
      return;
    case EventKind::rwlock_unlock:
      unlock_rwlock(event.subject, by);
      return;
    case EventKind::semaphore_post:
      objects_[event.subject].releases.push_back(by);
      let_go(objects_[event.subject].queue);
      return;
    case EventKind::condition_signal:
    case EventKind::condition_broadcast:
      notify(event, by);
      return;
    case EventKind::condition_wait:
    case EventKind::condition_timedwait:
      if (event.outcome == Outcome::ok)
        await(event.subject, thread);
      leave_mutex(thread, event.other, by);
      return;
    case EventKind::barrier_wait:
      arrive(thread, event);
      return;
    case EventKind::send:
      if (event.outcome == Outcome::ok) {
        Mailbox& box = mailbox(event.subject, event.other);
        park(thread, box.senders);
        const std::uint32_t receiver = box.receiver;
        if (receiver != nobody && receive(receiver, event_of(receiver)))
          advance(receiver);
      }
      return;
    default:
      return;
  }
}

bool RecordedOrder::acquire(std::uint32_t thread, const Event& event) {
  ThreadState& state = threads_[thread];
  switch (event.kind) {
    case EventKind::thread_join:
      if (!threads_[event.subject].ended) {
        park(thread, threads_[event.subject].joiners);
        return false;
      }
      consumer_.joined(thread, state.event, event.subject);
      return true;
    case EventKind::mutex_lock:
    case EventKind::mutex_trylock:
    case EventKind::mutex_timedlock:
      return acquire_mutex(thread, event.subject, 1);
    case EventKind::rwlock_read:
    case EventKind::rwlock_write:
      return acquire_rwlock(thread, event);
    case EventKind::semaphore_wait:
    case EventKind::semaphore_trywait:
    case EventKind::semaphore_timedwait:
      return acquire_semaphore(thread, event.subject);
    case EventKind::condition_wait:
    case EventKind::condition_timedwait:
      return acquire_condition(thread, event);
    case EventKind::barrier_wait:
      if (state.generation == objects_[event.subject].generation && state.generation != nobody) {
        park(thread, objects_[event.subject].queue);
        return false;
      }
      return true;
    case EventKind::send:
      return state.matched;
    case EventKind::receive:
      return receive(thread, event);
    default:
      return true;
  }
}

bool RecordedOrder::acquire_mutex(std::uint32_t thread, std::uint32_t mutex, std::uint32_t depth) {
  ObjectState& state = objects_[mutex];
  if (state.owner != nobody && state.owner != thread) {
    park(thread, state.queue);
    return false;
  }
  if (state.owner == thread) {
    state.depth += depth;
    return true;
  }
  state.owner = thread;
  state.depth = depth;
  went_on(thread, state.last);
  return true;
}

void RecordedOrder::unlock_mutex(std::uint32_t mutex, Releaser by) {
  ObjectState& state = objects_[mutex];
  if (state.owner == nobody || --state.depth > 0)
    return;
  state.owner = nobody;
  state.last = by;
  let_go(state.queue);
}

void RecordedOrder::leave_mutex(std::uint32_t thread, std::uint32_t mutex, Releaser by) {
  ThreadState& state = threads_[thread];
  state.depth = 0;
  if (mutex >= objects_.size() || objects_[mutex].owner != thread)
    return;
  state.depth = objects_[mutex].depth;
  objects_[mutex].depth = 1;
  unlock_mutex(mutex, by);
}

bool RecordedOrder::acquire_rwlock(std::uint32_t thread, const Event& event) {
  ObjectState& state = objects_[event.subject];
  if (state.owner == thread) {
    ++state.depth;
    return true;
  }
  const bool writes = event.kind == EventKind::rwlock_write;
  if (state.owner != nobody || (writes && state.count > 0)) {
    park(thread, state.queue);
    return false;
  }
  went_on(thread, state.last);
  if (!writes) {
    ++state.count;
    return true;
  }
  for (const Releaser reader : state.releases)
    went_on(thread, reader);
  state.releases.clear();
  state.owner = thread;
  state.depth = 1;
  return true;
}

void RecordedOrder::unlock_rwlock(std::uint32_t rwlock, Releaser by) {
  ObjectState& state = objects_[rwlock];
  if (state.owner != nobody) {
    if (--state.depth > 0)
      return;
    state.owner = nobody;
    state.last = by;
  } else if (state.count > 0) {
    --state.count;
    state.releases.push_back(by);
  }
  let_go(state.queue);
}

bool RecordedOrder::acquire_semaphore(std::uint32_t thread, std::uint32_t semaphore) {
  ObjectState& state = objects_[semaphore];
  if (state.count > 0) {
    --state.count;
    return true;
  }
  if (state.taken == state.releases.size()) {
    park(thread, state.queue);
    return false;
  }
  went_on(thread, state.releases[state.taken++]);
  return true;
}

bool RecordedOrder::acquire_condition(std::uint32_t thread, const Event& event) {
  ThreadState& state = threads_[thread];
  if (state.awaiting) {
    if (!measured_) {
      park(thread, unnotified_);
      return false;
    }
    await_no_more(event.subject, thread);  // woken by nobody, as pthread_cond_wait(3) may be
  }
  if (state.depth > 0 && !acquire_mutex(thread, event.other, state.depth))
    return false;
  const std::uint64_t loop = std::uint64_t{event.subject} << 32U | thread;
  if (event.outcome == Outcome::timeout) {
    polls_[loop].push_back(state.event);
    return true;
  }
  if (const auto polls = polls_.find(loop); polls != polls_.end()) {
    if (state.notifier.thread != nobody && state.notifier.thread != thread) {
      for (const std::uint32_t poll : polls->second)
        consumer_.polled(thread, poll, state.notifier);
    }
    polls_.erase(polls);
  }
  went_on(thread, state.notifier);
  state.notifier = {};
  return true;
}

void RecordedOrder::notify(const Event& event, Releaser by) {
  std::uint32_t left = event.other;
  if (left == unknown_count && event.kind == EventKind::condition_signal)
    left = 1;
  // Those of whom it is known come first.
  for (const bool known : {true, false}) {
    for (std::uint32_t at = objects_[event.subject].waiters.head; at != nobody && left > 0;) {
      const std::uint32_t next = threads_[at].waiter_behind;
      const ThreadId waker = event_of(at).waker;
      if (known ? waker.value == by.thread : !waker.known()) {
        notify_waiter(event.subject, at, by);
        --left;
      }
      at = next;
    }
  }
}

void RecordedOrder::notify_waiter(std::uint32_t condition, std::uint32_t waiter, Releaser by) {
  ThreadState& state = threads_[waiter];
  await_no_more(condition, waiter);
  state.notifier = by;
  if (state.in != &unnotified_)
    return;
  unpark(waiter);
  if (acquire_condition(waiter, event_of(waiter)))
    advance(waiter);
}

void RecordedOrder::arrive(std::uint32_t thread, const Event& event) {
  ThreadState& state = threads_[thread];
  ObjectState& barrier = objects_[event.subject];
  state.generation = nobody;
  if (event.other == unknown_count)
    return;
  if (barrier.count++ == 0)
    barrier.generation = generations_++;
  consumer_.arrived(thread, state.event, barrier.generation);
  if (barrier.count < event.other) {
    state.generation = barrier.generation;
    return;
  }
  barrier.count = 0;
  barrier.generation = nobody;
  let_go(barrier.queue);
}

bool RecordedOrder::receive(std::uint32_t thread, const Event& event) {
  Mailbox& box = mailbox(event.subject, thread);
  const std::uint32_t sender = box.senders.head;
  if (sender == nobody) {
    if (threads_[thread].in == nullptr)
      park(thread, unnotified_);
    box.receiver = thread;
    return false;
  }
  if (threads_[thread].in != nullptr)
    unpark(thread);
  box.receiver = nobody;
  unpark(sender);
  went_on(thread, {sender, threads_[sender].event});
  went_on(sender, {thread, threads_[thread].event});
  threads_[sender].matched = true;
  if (threads_[sender].completing)
    advance(sender);
  return true;
}

RecordedOrder::Mailbox& RecordedOrder::mailbox(std::uint32_t channel, std::uint32_t receiver) {
  return mailboxes_[std::uint64_t{channel} << 32U | receiver];
}

void RecordedOrder::park(std::uint32_t thread, Queue& queue) {
  ThreadState& state = threads_[thread];
  state.in = &queue;
  state.before = queue.tail;
  state.behind = nobody;
  (queue.tail == nobody ? queue.head : threads_[queue.tail].behind) = thread;
  queue.tail = thread;
  const Event& event = event_of(thread);
  parked_.emplace((event.time + event.duration).count(), thread);
}

void RecordedOrder::unpark(std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  Queue& queue = *state.in;
  (state.before == nobody ? queue.head : threads_[state.before].behind) = state.behind;
  (state.behind == nobody ? queue.tail : threads_[state.behind].before) = state.before;
  state.in = nullptr;
  const Event& event = event_of(thread);
  parked_.erase({(event.time + event.duration).count(), thread});
}

bool RecordedOrder::is_free_for(const Event& event) const {
  if (event.kind == EventKind::thread_join)
    return threads_[event.subject].ended;
  const bool on_condition =
      event.kind == EventKind::condition_wait || event.kind == EventKind::condition_timedwait;
  const ObjectState& state = objects_[on_condition ? event.other : event.subject];
  switch (event.kind) {
    case EventKind::semaphore_wait:
    case EventKind::semaphore_trywait:
    case EventKind::semaphore_timedwait:
      return state.count > 0 || state.taken < state.releases.size();
    case EventKind::rwlock_write:
      return state.owner == nobody && state.count == 0;
    default:
      return state.owner == nobody;
  }
}

// In order of arrival, as many as can.
void RecordedOrder::let_go(Queue& queue) {
  while (queue.head != nobody && is_free_for(event_of(queue.head))) {
    const std::uint32_t thread = queue.head;
    unpark(thread);
    if (acquire(thread, event_of(thread)))
      advance(thread);
  }
}

void RecordedOrder::await(std::uint32_t condition, std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  Queue& queue = objects_[condition].waiters;
  state.awaiting = true;
  state.notifier = {};
  state.waiter_before = queue.tail;
  state.waiter_behind = nobody;
  (queue.tail == nobody ? queue.head : threads_[queue.tail].waiter_behind) = thread;
  queue.tail = thread;
}

void RecordedOrder::await_no_more(std::uint32_t condition, std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  Queue& queue = objects_[condition].waiters;
  state.awaiting = false;
  (state.waiter_before == nobody ? queue.head : threads_[state.waiter_before].waiter_behind) =
      state.waiter_behind;
  (state.waiter_behind == nobody ? queue.tail : threads_[state.waiter_behind].waiter_before) =
      state.waiter_before;
}

}  // namespace longpole::simulation
