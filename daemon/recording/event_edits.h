// Changes to what a thread did, where that is known better than it was recorded.
#pragma once

#include <cstdint>
#include <vector>

#include "recording/merged_run.h"

namespace longpole::recording {

// What comes in the place of the events from `first` to before `behind`; of none of them: before `first`.
struct EventEdit {
  std::uint32_t first;
  std::uint32_t behind;
  std::vector<Event> events{};
  std::vector<std::uint32_t> sites{};
  bool computes = false;  // the last of them, what the event behind them did

  void add(const Event& event, std::uint32_t site) {
    events.push_back(event);
    sites.push_back(site);
  }
};

[[nodiscard]] inline Event event_at(Nanoseconds time, EventKind kind, std::uint32_t subject) {
  Event event;
  event.time = time;
  event.kind = kind;
  event.subject = subject;
  return event;
}

// The edits must be apart from one another. What the events that go computed, and their samples, count for what the thread
// does next, but those of the first for what stands in its place. Samples stay where they stand in the list of them.
void apply_edits(std::vector<EventEdit> edits, MergedThread& thread);

}  // namespace longpole::recording
