#include "schedule_table.h"

#include <fmt/format.h>

#include "simulation/simulate.h"
#include "trace/event_forms.h"
#include "trace/program_text.h"

namespace longpole::simulation {

std::string in_milliseconds(Nanoseconds time) {
  return fmt::format("{:g}", static_cast<double>(time.count()) / 1e6);
}

std::string schedule_table(const Recording& recording, const Schedule& schedule) {
  std::string table;
  for (std::size_t t = 0; t < recording.threads.size(); ++t) {
    table += recording.threads[t].name + ":";
    for (SegmentIndex s = schedule.thread_begin[t]; s < schedule.thread_begin[t + 1]; ++s) {
      const Segment& segment = schedule.segments[s];
      const auto word =
          segment.cut ? "cut" : event_form(recording.threads[t].events[segment.event].kind).word;
      if (segment.start == segment.end)
        table += fmt::format(" {}@{}", word, in_milliseconds(segment.end));
      else
        table += fmt::format(" {} {}{}{}", word, in_milliseconds(segment.start),
                             segment.running ? '-' : '~', in_milliseconds(segment.end));
    }
    table += "\n";
  }
  if (schedule.deadlock) {
    table += fmt::format("deadlock at {}:", in_milliseconds(schedule.deadlock->at));
    for (const Blocked& blocked : schedule.deadlock->threads) {
      const Thread& thread = recording.threads[blocked.thread.index()];
      table += fmt::format(" {} {} since {}", thread.name,
                           event_form(thread.events[blocked.event].kind).word,
                           in_milliseconds(blocked.since));
    }
    table += "\n";
  }
  return table;
}

std::string ideal_table(const std::string& program) {
  auto recording = read_program(program, "test");
  if (!recording)
    return recording.error().text();
  const Recording known = with_known_condition_counts(*std::move(recording));
  return schedule_table(known, simulate_ideal(known, nullptr));
}

}  // namespace longpole::simulation
