#include "brute_force.h"

namespace longpole::analysis {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;

bool events_are_apart(const Schedule& schedule) {
  // Segments of length zero end together with the one that released them. Any other must end at
  // a time of its own, and further from its neighbours than the nanosecond it will be shortened by.
  Nanoseconds before{-2};
  for (const SegmentIndex index : schedule.by_end) {
    const Segment& segment = schedule.segments[index];
    if (segment.start == segment.end || segment.cut)
      continue;
    if (segment.end - before < Nanoseconds{2})
      return false;
    before = segment.end;
  }
  return true;
}

simulation::TimesCpus brute_force_weight(const Recording& recording, const Schedule& schedule,
                                         SegmentIndex segment, std::uint32_t cpus) {
  const Segment& of = schedule.segments[segment];
  Recording shortened = recording;
  Event& event = shortened.threads[of.thread.index()].events[of.event];
  (of.running ? event.cpu : event.duration) -= Nanoseconds{1};
  return simulation::shared_completion_times_cpus(simulation::concurrency(schedule), cpus) -
         simulation::shared_completion_times_cpus(
             simulation::concurrency(simulation::simulate_ideal(shortened)), cpus);
}

}  // namespace longpole::analysis
