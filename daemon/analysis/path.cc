#include "analysis/path.h"

#include <algorithm>

#include "analysis/execution.h"
#include "simulation/simulate.h"

namespace longpole::analysis {

using simulation::no_segment;
using simulation::Segment;
using simulation::SegmentIndex;
using simulation::TimesCpus;

namespace {

// A step without length goes; from whom it came, the next step of the thread comes.
std::vector<PathStep> without_empty_steps(std::vector<PathStep> path) {
  std::vector<PathStep> steps;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i].start != path[i].end) {
      steps.push_back(path[i]);
      continue;
    }
    if (i + 1 == path.size() || path[i + 1].woken_by.known() || path[i + 1].cpu_from.known())
      continue;
    path[i + 1].woken_by = path[i].woken_by;
    path[i + 1].wake_event = path[i].wake_event;
    path[i + 1].cpu_from = path[i].cpu_from;
  }
  return steps;
}

}  // namespace

simulation::LargeArray<SegmentIndex> heaviest_chain(const simulation::Schedule& ideal,
                                                    const Weights& weights) {
  // By segment: what the path to its end weighs. What released it comes before it in by_end.
  simulation::LargeArray<TimesCpus> so_far(ideal.segments.size());
  SegmentIndex last = no_segment;
  for (const SegmentIndex index : ideal.by_end) {
    const Segment& segment = ideal.segments[index];
    so_far[index] = TimesCpus{weights.scaled[index]} * (segment.end - segment.start).count() +
                    (segment.released_by == no_segment ? 0 : so_far[segment.released_by]);
    if (last == no_segment || so_far[index] >= so_far[last])
      last = index;
  }
  simulation::LargeArray<SegmentIndex> chain;
  for (SegmentIndex index = last; index != no_segment; index = ideal.segments[index].released_by)
    chain.push_back(index);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::vector<PathStep> heaviest_path(const simulation::Schedule& ideal, const Weights& weights) {
  std::vector<PathStep> path;
  for (const SegmentIndex index : heaviest_chain(ideal, weights)) {
    const Segment& segment = ideal.segments[index];
    PathStep step;
    step.segment = index;
    step.thread = segment.thread;
    step.event = segment.event;
    step.start = segment.start;
    step.end = segment.end;
    step.weight = weights.weight(index);
    step.running = segment.running;
    if (segment.released_by != no_segment) {
      const Segment& before = ideal.segments[segment.released_by];
      if (before.thread != segment.thread) {
        step.woken_by = before.thread;
        step.wake_event = before.event;
      }
    }
    path.push_back(step);
  }
  return without_empty_steps(std::move(path));
}

std::vector<PathStep> machine_path(const Execution& run) {
  std::vector<PathStep> path;
  for (PartIndex index = run.last_part(); index != no_part;) {
    const ExecutionPart part = run.part(index);
    const PartIndex before = part.hangs_on();
    PathStep step{.segment = index,
                  .thread = ThreadId{part.thread},
                  .event = part.event,
                  .start = part.start,
                  .end = part.end,
                  .weight = 1,
                  .running = part.running,
                  .woken_by = {},
                  .cpu_from = {}};
    if (before != no_part && run.part(before).thread != part.thread) {
      if (before == part.given_by && part.waited_for_cpu())
        step.cpu_from = ThreadId{run.part(before).thread};
      else
        step.woken_by = ThreadId{run.part(before).thread};
      step.wake_event = run.part(before).event;
    }
    path.push_back(step);
    index = before;
  }
  std::reverse(path.begin(), path.end());
  return without_empty_steps(std::move(path));
}

}  // namespace longpole::analysis
