#include "simulation/signals_in_flight.h"

#include <algorithm>

namespace longpole::simulation {

SignalsInFlight::SignalsInFlight(const Recording& recording, const Survey& survey,
                                 const Rules& rules)
    : survey_(survey),
      hands_over_(rules.hand_off == HandOff::ordered),
      unlocks_(recording.objects.size()),
      tokens_(recording.objects.size()),
      ends_(recording.threads.size()),
      notifications_(recording.threads.size()),
      paired_waits_(recording.threads.size()) {
  for (const Object& object : recording.objects)
    initial_.push_back(object.initial);
}

std::optional<SignalsInFlight::Signal> SignalsInFlight::call(std::uint32_t thread,
                                                             const Event& event, const Signal& here,
                                                             Next next, std::size_t released,
                                                             std::uint32_t woken) {
  if (event.outcome != Outcome::ok ||
      (survey_.wait_fors != nullptr && survey_.wait_fors->governs(event)))
    return std::nullopt;
  const bool goes_on = next == Next::runs;
  switch (event.kind) {
    case EventKind::mutex_lock:
    case EventKind::mutex_trylock:
    case EventKind::mutex_timedlock:
    case EventKind::rwlock_read:
    case EventKind::rwlock_write:
      return goes_on ? std::optional(unlocks_[event.subject]) : std::nullopt;
    case EventKind::mutex_unlock:
    case EventKind::rwlock_unlock:
      unlocks_[event.subject] = here;
      return std::nullopt;
    case EventKind::semaphore_post:
      // Where it went to somebody who waited, no later wait finds it.
      if (!hands_over_ || released == 0)
        tokens_[event.subject].push_back(here);
      return std::nullopt;
    case EventKind::semaphore_wait:
    case EventKind::semaphore_trywait:
    case EventKind::semaphore_timedwait:
      return goes_on ? take_post(event.subject) : std::nullopt;
    case EventKind::thread_join:
      return goes_on ? std::optional(ends_[event.subject]) : std::nullopt;
    case EventKind::condition_signal:
    case EventKind::condition_broadcast:
      notifications_[thread].push_back(here);
      if (event.kind == EventKind::condition_signal && event.other != unknown_count &&
          event.other > woken)
        tokens_[event.subject].insert(tokens_[event.subject].end(), event.other - woken, here);
      return std::nullopt;
    case EventKind::condition_wait:
    case EventKind::condition_timedwait:
      return wait_for_condition(thread, event, here, next);
    case EventKind::barrier_wait:
      return arrive(event, here, next);
    case EventKind::send:
      if (!goes_on)
        mailbox(event.subject, event.other).push_back(here);
      return std::nullopt;
    case EventKind::receive:
      return goes_on ? take(mailbox(event.subject, thread)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<SignalsInFlight::Signal> SignalsInFlight::retry(const Event& event, Next next) {
  if (next != Next::runs)
    return std::nullopt;
  switch (event.kind) {
    case EventKind::semaphore_wait:
    case EventKind::semaphore_trywait:
    case EventKind::semaphore_timedwait:
      return take_post(event.subject);
    case EventKind::condition_wait:
    case EventKind::condition_timedwait:
      return unlocks_[event.other];
    case EventKind::condition_broadcast:
      return unlocks_[survey_.condition_mutex[event.subject]];
    default:
      return unlocks_[event.subject];
  }
}

std::optional<SignalsInFlight::Signal> SignalsInFlight::take_post(std::uint32_t semaphore) {
  if (initial_[semaphore] == 0)
    return take(tokens_[semaphore]);
  --initial_[semaphore];
  return std::nullopt;
}

std::optional<SignalsInFlight::Signal> SignalsInFlight::take(Queue& queue) {
  if (queue.empty())
    return std::nullopt;
  const Signal first = queue.front();
  queue.pop_front();
  return first;
}

std::optional<SignalsInFlight::Signal> SignalsInFlight::wait_for_condition(std::uint32_t thread,
                                                                           const Event& event,
                                                                           const Signal& here,
                                                                           Next next) {
  const bool paired = survey_.conditions.paired(event.subject);
  if (paired)
    ++paired_waits_[thread];
  if (next != Next::runs) {
    if (event.other < unlocks_.size())
      unlocks_[event.other] = here;
    return std::nullopt;
  }
  if (!paired)
    return take(tokens_[event.subject]);
  const Notified ends = survey_.conditions.waits(thread)[paired_waits_[thread] - 1];
  if (!ends.by.known())
    return std::nullopt;
  const Queue& made = notifications_[ends.by.index()];
  return ends.count > made.size() ? std::nullopt : std::optional(made[ends.count - 1]);
}

// The last to come waits for the arrival, of all on other CPUs, that was made last.
std::optional<SignalsInFlight::Signal> SignalsInFlight::arrive(const Event& event,
                                                               const Signal& here, Next next) {
  Queue& arrivals = tokens_[event.subject];
  if (next != Next::runs) {
    arrivals.push_back(here);
    return std::nullopt;
  }
  std::optional<Signal> last;
  for (const Signal& arrival : arrivals) {
    if (arrival.cpu != here.cpu && (!last || arrival.time >= last->time))
      last = arrival;
  }
  arrivals.clear();
  return last;
}

}  // namespace longpole::simulation
