// Condition variables. The recorder cannot see the predicate that a program tests, so a condition
// behaves as it did in the recording (thesis, Paper I section 6): every signal and broadcast wakes
// as many threads as it woke there, whether they come before it or after.
//
//  - A signal that woke a thread there is remembered until a thread comes to wait; one that woke
//    nobody wakes nobody.
//  - A broadcast waits until as many threads have come as it woke there, without the mutex
//    meanwhile, and then wakes exactly these; so a barrier built on a condition holds, whoever
//    arrives last.
//  - Where the count is not known (a program file before it was run on one CPU), both wake whoever
//    waits, as pthread_cond_signal(3) says.
//
// Releases that wait for threads are served in the order in which they came. Where the recording says
// which notification ended which wait, these are paired instead (condition_pairs.h).
#include <algorithm>
#include <utility>

#include "simulation/synchronization.h"

namespace longpole::simulation {

Next Synchronization::notify(std::uint32_t thread, const Event& event) {
  ++threads_[thread].notifications;
  if (survey_.conditions.paired(event.subject)) {
    wake_awaiters(thread);
    return Next::runs;
  }
  if (event.kind == EventKind::condition_broadcast)
    return broadcast(thread, event.subject, event.other);
  signal(event.subject, event.other);
  return Next::runs;
}

Next Synchronization::wait_for_notification(std::uint32_t thread, const Event& event) {
  const Notified ends = survey_.conditions.waits(thread)[threads_[thread].paired_waits++];
  if (!ends.by.known())
    return Next::runs;  // for no reason that is known
  if (threads_[ends.by.index()].notifications >= ends.count)
    return Next::runs;  // the predicate holds, nobody would wait
  leave_mutex(thread, event.other);
  await(thread, ends);
  return Next::blocks;
}

// What it found done in the recording may not have been done here: then it waits for that, as it would.
Next Synchronization::pass(std::uint32_t thread, const Event& event) {
  ThreadState& state = threads_[thread];
  const std::span<const Pass> passes = survey_.conditions.passes(thread);
  const Notified found = passes[state.passes++].found;
  state.next_pass = state.passes == passes.size()
                        ? nullptr
                        : &recording_.threads[thread].events[passes[state.passes].event];
  if (threads_[found.by.index()].notifications >= found.count)
    return lock(thread, event.subject);
  state.retake = event.subject;
  await(thread, found);
  return Next::blocks;
}

// A timed wait that timed out in the recording.
Next Synchronization::poll(std::uint32_t thread, const Event& event) {
  ThreadState& state = threads_[thread];
  if (survey_.conditions.paired(event.subject)) {
    const Notified ends = survey_.conditions.polls(thread)[state.polls++];
    if (ends.by.known()) {
      if (threads_[ends.by.index()].notifications >= ends.count)
        return Next::runs;  // the predicate holds, nobody would wait
      state.polls_for = ends.by.value;
      await(thread, ends);
    }
  }
  leave_mutex(thread, event.other);
  return Next::waits;
}

Next Synchronization::poll_over(std::uint32_t thread) {
  threads_[thread].polls_for = nobody;
  threads_[thread].awaits = 0;
  return retake_mutex(thread) ? Next::runs : Next::blocks;
}

void Synchronization::await(std::uint32_t thread, Notified notified) {
  if (awaiters_.empty())
    awaiters_.resize(threads_.size());
  threads_[thread].awaits = ++awaits_;
  awaiters_[notified.by.index()].push({notified.count, awaits_, thread});
}

void Synchronization::wake_awaiters(std::uint32_t thread) {
  if (awaiters_.empty())
    return;
  auto& awaiters = awaiters_[thread];
  while (!awaiters.empty() && awaiters.top().count <= threads_[thread].notifications) {
    const Awaiter first = awaiters.top();
    awaiters.pop();
    ThreadState& awaiter = threads_[first.thread];
    if (awaiter.awaits != first.awaits)
      continue;
    awaiter.awaits = 0;
    ++woken_;
    const bool polls = std::exchange(awaiter.polls_for, nobody) != nobody;
    if (!resume_with_mutex(first.thread) && polls)
      release(first.thread, Next::blocks);  // no longer for a fixed time
  }
}

Next Synchronization::wait_for_condition(std::uint32_t thread, const Event& event) {
  if (survey_.conditions.paired(event.subject))
    return wait_for_notification(thread, event);
  ObjectState& condition = objects_[event.subject];
  if (condition.broadcasters.empty() && condition.remembered > 0) {
    --condition.remembered;  // its signal has been: the predicate holds, nobody would wait
    return Next::runs;
  }
  leave_mutex(thread, event.other);
  push(condition.queue, thread);
  ++condition.count;
  serve_broadcasts(condition);
  return Next::blocks;
}

void Synchronization::signal(std::uint32_t condition, std::uint32_t count) {
  ObjectState& state = objects_[condition];
  if (count == unknown_count) {
    wake_waiters(state, std::min<std::uint64_t>(1, state.count));
  } else if (!state.broadcasters.empty()) {
    threads_[state.broadcasters.tail].signals_after += count;
  } else {
    const std::uint64_t now = std::min<std::uint64_t>(count, state.count);
    wake_waiters(state, now);
    state.remembered += count - now;
  }
}

Next Synchronization::broadcast(std::uint32_t thread, std::uint32_t condition,
                                std::uint32_t count) {
  ObjectState& state = objects_[condition];
  if (count == unknown_count) {
    wake_waiters(state, state.count);
    return Next::runs;
  }
  if (state.broadcasters.empty() && state.count >= count) {
    wake_waiters(state, count);
    return Next::runs;
  }
  threads_[thread].broadcast_needs = count;
  threads_[thread].signals_after = 0;
  push(state.broadcasters, thread);
  leave_mutex(thread, survey_.condition_mutex[condition]);
  return Next::blocks;
}

void Synchronization::serve_broadcasts(ObjectState& condition) {
  while (!condition.broadcasters.empty() &&
         condition.count >= threads_[condition.broadcasters.head].broadcast_needs) {
    const std::uint32_t thread = pop(condition.broadcasters);
    // It held the mutex when it woke the others in the recording, so it has it back first. Not if it was cancelled
    // there, or stands still: it never came back.
    const Event* const at = threads_[thread].at;
    if (at != nullptr && at->outcome == Outcome::ok)
      resume_with_mutex(thread);
    wake_waiters(condition, threads_[thread].broadcast_needs);
    condition.remembered += threads_[thread].signals_after;
    if (condition.broadcasters.empty()) {
      const std::uint64_t signalled = std::min(condition.remembered, condition.count);
      condition.remembered -= signalled;
      wake_waiters(condition, signalled);
    }
  }
}

void Synchronization::wake_waiters(ObjectState& condition, std::uint64_t count) {
  woken_ += static_cast<std::uint32_t>(count);
  condition.count -= count;
  for (; count > 0; --count) {
    const std::uint32_t thread = pop(condition.queue);
    resume_with_mutex(thread);
  }
}

}  // namespace longpole::simulation
