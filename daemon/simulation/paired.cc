// The models client-server and strict (models.h): calls that wait for the very release that enabled
// them in the recording. Objects have no state here; all there is to know is which waits still miss a
// release.
#include <algorithm>

#include "simulation/synchronization.h"

namespace longpole::simulation {

std::uint32_t Synchronization::index_of(std::uint32_t thread, const Event& event) const {
  return static_cast<std::uint32_t>(&event - recording_.threads[thread].events.data());
}

Next Synchronization::perform_paired(std::uint32_t thread, const Event& event) {
  const std::uint32_t index = index_of(thread, event);
  const WaitFors::Wait wait = pairs_->wait_of(thread, index);
  const bool starts_list = wait != WaitFors::none && pairs_->waits()[wait].starts_list;
  // Who sends goes on when it is received, not when the receiver gets as far as to wait.
  if (!starts_list || event.kind != EventKind::receive)
    happens(pairs_->key_of(thread, index));
  if (starts_list)
    return next_list(thread);
  if (event.outcome != Outcome::timeout)
    return wait_for(thread, wait);
  const WaitFors::Wait poll = wait == WaitFors::none ? wait : pairs_->waits()[wait].poll;
  if (poll != WaitFors::none && missing_[poll] == 0)
    return wait_for(thread, wait);
  threads_[thread].polls_for = poll;
  return Next::waits;
}

Next Synchronization::wait_for(std::uint32_t thread, WaitFors::Wait wait) {
  if (wait == WaitFors::none || missing_[wait] == 0)
    return Next::runs;
  threads_[thread].waits_for = wait;
  return Next::blocks;
}

void Synchronization::happens(WaitFors::Key key) {
  for (const WaitFors::Wait wait : pairs_->enabled_by(key)) {
    if (--missing_[wait] == 0)
      enable(wait);
  }
}

void Synchronization::enable(WaitFors::Wait wait) {
  const WaitFors::WaitFor& enabled = pairs_->waits()[wait];
  if (enabled.thread == WaitFors::none) {
    happens(pairs_->key_of_gate(wait));
    return;
  }
  ThreadState& state = threads_[enabled.thread];
  if (enabled.is_poll) {
    if (state.polls_for != wait)
      return;
    state.polls_for = nobody;
    const WaitFors::Wait mutex = pairs_->wait_of(enabled.thread, enabled.event);
    release(enabled.thread, wait_for(enabled.thread, mutex));
  } else if (enabled.starts_list) {
    lists_[enabled.thread].push(enabled.event);
    if (state.between_lists)
      start_list(enabled.thread);
  } else if (state.waits_for == wait) {
    state.waits_for = nobody;
    release(enabled.thread);
  }
}

// A list is over: on with any other whose wait is over, in the order of the recording.
Next Synchronization::next_list(std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  if (state.lists_left == 0)
    return end(thread);
  state.between_lists = true;
  if (lists_[thread].empty())
    return Next::blocks;
  start_list(thread);
  released_.pop_back();  // it goes on by itself
  return Next::jumps;
}

void Synchronization::start_list(std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  const std::uint32_t event = lists_[thread].top();
  lists_[thread].pop();
  state.between_lists = false;
  state.jumped_to = event;
  --state.lists_left;
  if (recording_.threads[thread].events[event].kind == EventKind::receive)
    happens(pairs_->key_of(thread, event));
  release(thread, Next::jumps);
}

std::uint32_t Synchronization::awaited(std::uint32_t thread, std::uint32_t event) const {
  if (!threads_[thread].between_lists)
    return event;
  const auto events = static_cast<std::uint32_t>(recording_.threads[thread].events.size());
  for (std::uint32_t other = 0; other < events; ++other) {
    const WaitFors::Wait wait = pairs_->wait_of(thread, other);
    if (wait != WaitFors::none && pairs_->waits()[wait].starts_list && missing_[wait] > 0)
      return other;
  }
  return event;
}

void Synchronization::add_blocked(std::uint32_t thread, std::uint32_t event, Nanoseconds since,
                                  std::optional<Deadlock>& deadlock) const {
  if (recording_.threads[thread].events[event].outcome == Outcome::unfinished)
    return;
  if (!deadlock)
    deadlock.emplace();
  deadlock->threads.push_back({ThreadId{thread}, awaited(thread, event), since});
  deadlock->at = std::max(deadlock->at, since);
}

}  // namespace longpole::simulation
