#include "analysis/spinning.h"

namespace longpole::analysis {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;

namespace {

bool is_in_vain(const Event& event) {
  return event.kind == EventKind::yield || event.outcome == Outcome::busy;
}

bool is_try_that_went_well(const Event& event) {
  return event.outcome == Outcome::ok &&
         (event.kind == EventKind::mutex_trylock || event.kind == EventKind::semaphore_trywait);
}

class Rows {
 public:
  Rows(const Recording& recording, const Schedule& schedule)
      : recording_(recording), schedule_(schedule) {}

  std::vector<bool> find() {
    for (std::size_t t = 0; t < recording_.threads.size(); ++t)
      follow(recording_.threads[t].events, schedule_.thread_begin[t],
             schedule_.thread_begin[t + 1]);
    return std::move(spinning_);
  }

 private:
  void follow(const std::vector<Event>& events, SegmentIndex begin, SegmentIndex end) {
    std::size_t calls = 0;    // of the row
    SegmentIndex first = 0;   // behind its first call
    SegmentIndex behind = 0;  // its last
    Nanoseconds since{};      // computed since its last call
    for (SegmentIndex s = begin; s < end; ++s) {
      const Segment& segment = schedule_.segments[s];
      const Event& event = events[segment.event];
      since += segment.running ? segment.end - segment.start : Nanoseconds{};
      if (calls > 0 && (!segment.running || since > next_to_nothing)) {
        mark(calls, first, behind);
        calls = 0;
      }
      if (!segment.running || segment.cut)
        continue;
      if (is_in_vain(event)) {
        if (calls++ == 0)
          first = s + 1;
        behind = s + 1;
        since = {};
      } else if (calls > 0 && is_try_that_went_well(event)) {
        mark(calls, first, s + 1);
        calls = 0;
      }
    }
    mark(calls, first, behind);
  }

  void mark(std::size_t calls, SegmentIndex from, SegmentIndex to) {
    if (calls < shortest_row)
      return;
    if (spinning_.empty())
      spinning_.resize(schedule_.segments.size(), false);
    for (SegmentIndex s = from; s < to; ++s)
      spinning_[s] = schedule_.segments[s].running;
  }

  const Recording& recording_;
  const Schedule& schedule_;
  std::vector<bool> spinning_;
};

}  // namespace

std::vector<bool> spinning_segments(const Recording& recording, const Schedule& schedule) {
  return Rows(recording, schedule).find();
}

}  // namespace longpole::analysis
