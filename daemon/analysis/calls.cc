// Which functions were entered how often, and which entries are on the path.
#include "analysis/accounts.h"

namespace longpole::analysis {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;

// The papers' rule (1999 report, section 3.2): an entry is on the path when the stretch of
// computing that starts at the time of the entry, inside the function, is on it. `run F` enters F,
// computes and leaves it. That a thread starts in a function is not counted without a record of calls:
// whoever else calls it would be missing from the number.
void Accounts::find_calls(const Schedule& schedule) {
  std::vector<std::uint64_t> entries(recording_.functions.size(), 0);
  std::vector<FunctionId> open;  // entered just now, and nothing computed since
  Nanoseconds now{};
  for (std::size_t t = 0; t < recording_.threads.size(); ++t) {
    const Thread& thread = recording_.threads[t];
    open.clear();
    const SegmentIndex begin = schedule.thread_begin[t];
    const SegmentIndex end = schedule.thread_begin[t + 1];
    if (begin == end)
      continue;
    now = schedule.segments[begin].start;
    for (SegmentIndex s = begin; s < end; ++s) {
      const Segment& segment = schedule.segments[s];
      const Event& event = thread.events[segment.event];
      if (segment.start != now)
        open.clear();  // it was blocked first
      if (segment.start != segment.end) {
        for (const FunctionId function : open) {
          if (segment.running)
            entered_.push_back({function, s});
        }
        open.clear();
      }
      now = segment.end;
      if (!segment.running || (segment.cut && event.kind != EventKind::run))
        continue;
      if (event.kind == EventKind::enter) {
        ++entries[event.callee().index()];
        open.push_back(event.callee());
      } else if (event.kind == EventKind::leave) {
        if (!open.empty() && open.back() == event.callee())
          open.pop_back();
      } else if (event.kind == EventKind::run && event.profile.known()) {
        const StackId place = recording_.profiles[event.profile.index()].entries[0].stack;
        const FunctionId function = recording_.stacks[place.index()].function;
        ++entries[function.index()];
        if (segment.start != segment.end)
          entered_.push_back({function, s});
      }
    }
  }
  for (std::size_t f = 0; f < calls_.size(); ++f) {
    if (entries[f] > 0)
      calls_[f] = entries[f];
  }
}

}  // namespace longpole::analysis
