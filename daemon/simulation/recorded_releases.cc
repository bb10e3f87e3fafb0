#include "simulation/recorded_releases.h"

#include <algorithm>
#include <cstddef>

#include "simulation/machine.h"
#include "trace/event_forms.h"
#include "trace/event_kinds.h"

namespace longpole::simulation {
namespace {

// A waker may have made calls on other things before the one that it let go on came back.
constexpr std::size_t calls_looked_at = 16;

// What it takes to let a thread go on that waits for the same thing.
bool may_have_ended(const Event& call, const Event& wait) {
  const bool lets_go = gives_object_back(call.kind) || call.kind == EventKind::condition_signal ||
                       call.kind == EventKind::condition_broadcast ||
                       call.kind == EventKind::barrier_wait || call.kind == EventKind::send;
  return lets_go && call.subject == wait.subject && !waited_for_a_thread(call);
}

// Behind the last event that began by then. `from`: one that is not later, near which it is looked for first.
std::size_t behind_last(const std::vector<Event>& events, std::size_t from, Nanoseconds time) {
  std::size_t step = 1;
  while (from + step < events.size() && events[from + step].time <= time)
    step *= 2;
  const auto begin = events.begin() + static_cast<std::ptrdiff_t>(from);
  const auto end =
      events.begin() + static_cast<std::ptrdiff_t>(std::min(from + step, events.size()));
  return static_cast<std::size_t>(
      std::upper_bound(begin, end, time,
                       [](Nanoseconds at, const Event& event) { return at < event.time; }) -
      events.begin());
}

}  // namespace

RecordedReleases::RecordedReleases(const Recording& recording) {
  if (recorded_costs(recording).release == Nanoseconds{})
    return;
  const std::vector<Thread>& threads = recording.threads;
  of_.resize(threads.size());
  for (std::size_t t = 0; t < threads.size(); ++t)
    of_[t].resize(threads[t].events.size());
  std::vector<std::size_t> last(threads.size());  // of each waker, where one was found
  for (std::size_t t = 0; t < threads.size(); ++t) {
    std::fill(last.begin(), last.end(), 0);
    const std::vector<Event>& events = threads[t].events;
    for (std::size_t wait = 0; wait < events.size(); ++wait) {
      const Event& event = events[wait];
      const std::uint32_t waker = event.waker.value;
      if (!waited_for_a_thread(event) || waker >= threads.size() || waker == t)
        continue;
      const std::vector<Event>& calls = threads[waker].events;
      const std::size_t behind = behind_last(calls, last[waker], event.time + event.duration);
      last[waker] = behind == 0 ? 0 : behind - 1;
      const std::size_t first = behind > calls_looked_at ? behind - calls_looked_at : 0;
      for (std::size_t call = behind; call-- > first;) {
        if (!may_have_ended(calls[call], event))
          continue;
        std::uint8_t& releases = of_[waker][call];
        if ((releases & most) < most)
          ++releases;
        of_[t][wait] |= found;
        break;
      }
    }
  }
}

}  // namespace longpole::simulation
