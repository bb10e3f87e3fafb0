// Which functions were entered how often, and which entries are on the path.
#include <algorithm>

#include "analysis/accounts.h"

namespace longpole::analysis {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;

// The papers' rule (1999 report, section 3.2): an entry is on the path when the stretch of
// computing that starts at the time of the entry, inside the function, is on it. `run F` enters F,
// computes and leaves it. A thread's start function is entered where the thread starts; that is
// known without any record of calls, and the record where there is one holds it already.
void Accounts::find_calls(const Schedule& schedule) {
  struct Open {
    FunctionId function;
    bool thread_start;
  };
  std::vector<std::uint64_t> entries(recording_.functions.size(), 0);
  std::vector<std::uint64_t> starts(recording_.functions.size(), 0);
  std::vector<bool> recorded(recording_.functions.size(), false);
  std::vector<Call> thread_starts;
  std::vector<Open> open;  // entered just now, and nothing computed since
  Nanoseconds now{};
  for (std::size_t t = 0; t < recording_.threads.size(); ++t) {
    const Thread& thread = recording_.threads[t];
    open.clear();
    const SegmentIndex begin = schedule.thread_begin[t];
    const SegmentIndex end = schedule.thread_begin[t + 1];
    if (begin == end)
      continue;
    now = schedule.segments[begin].start;
    if (thread.start_function.known()) {
      ++starts[thread.start_function.index()];
      open.push_back({thread.start_function, true});
    }
    for (SegmentIndex s = begin; s < end; ++s) {
      const Segment& segment = schedule.segments[s];
      const Event& event = thread.events[segment.event];
      if (segment.start != now)
        open.clear();  // it was blocked first
      if (segment.start != segment.end) {
        for (const Open& entry : open) {
          if (segment.running)
            (entry.thread_start ? thread_starts : entered_).push_back({entry.function, s});
        }
        open.clear();
      }
      now = segment.end;
      if (!segment.running || (segment.cut && event.kind != EventKind::run))
        continue;
      if (event.kind == EventKind::enter) {
        ++entries[event.callee().index()];
        recorded[event.callee().index()] = true;
        open.push_back({event.callee(), false});
      } else if (event.kind == EventKind::leave) {
        if (!open.empty() && open.back().function == event.callee())
          open.pop_back();
      } else if (event.kind == EventKind::run && event.profile.known()) {
        const StackId place = recording_.profiles[event.profile.index()].entries[0].stack;
        const FunctionId function = recording_.stacks[place.index()].function;
        ++entries[function.index()];
        recorded[function.index()] = true;
        if (segment.start != segment.end)
          entered_.push_back({function, s});
      }
    }
  }
  for (const Call& call : thread_starts) {
    if (!recorded[call.function.index()])
      entered_.push_back(call);
  }
  std::stable_sort(entered_.begin(), entered_.end(),
                   [](const Call& a, const Call& b) { return a.stretch < b.stretch; });
  for (std::size_t f = 0; f < calls_.size(); ++f) {
    if (recorded[f])
      calls_[f] = entries[f];
    else if (starts[f] > 0)
      calls_[f] = starts[f];
  }
}

}  // namespace longpole::analysis
