#include "recording/event_edits.h"

#include <algorithm>
#include <utility>

namespace longpole::recording {

void apply_edits(std::vector<EventEdit> edits, MergedThread& thread) {
  if (edits.empty())
    return;
  std::ranges::stable_sort(
      edits, {}, [](const EventEdit& edit) { return std::pair(edit.first, edit.behind); });
  std::vector<Event> events;
  std::vector<std::uint32_t> sites;
  std::vector<std::uint32_t> now(thread.events.size());  // where each event's samples go
  Nanoseconds computed{};                                // between waits that are gone
  std::uint32_t i = 0;
  bool was_computed = false;
  const auto keep_to = [&](std::size_t end) {
    for (; i < end; ++i) {
      now[i] = static_cast<std::uint32_t>(events.size() - (was_computed ? 1U : 0U));
      was_computed = false;
      events.push_back(thread.events[i]);
      events.back().cpu += std::exchange(computed, Nanoseconds{});
      sites.push_back(thread.sites[i]);
    }
  };
  for (const EventEdit& edit : edits) {
    keep_to(edit.first);
    const auto begin = static_cast<std::uint32_t>(events.size());
    events.insert(events.end(), edit.events.begin(), edit.events.end());
    sites.insert(sites.end(), edit.sites.begin(), edit.sites.end());
    was_computed = edit.computes;
    for (; i < edit.behind; ++i) {
      if (i == edit.first) {
        now[i] = begin;
      } else {
        now[i] = static_cast<std::uint32_t>(events.size());
        computed += thread.events[i].cpu;
      }
    }
  }
  keep_to(thread.events.size());
  thread.events = std::move(events);
  thread.sites = std::move(sites);
  for (MergedSample& sample : thread.samples)
    sample.event = now[sample.event];
}

}  // namespace longpole::recording
