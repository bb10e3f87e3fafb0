// Execution: one simulated run to look at, thread by thread, on the time axis of the machine that it
// was simulated on.
//
//   thread  ├──── running ────┤  blocked  ├ runnable ┤── running ──┤
//           part 0            end         ready      start         end of part 1
//
// A part is a segment of an ideal execution or a stretch of a simulated machine; all parts of a thread
// stand together, in order. Under `shared` (thesis, Paper VI) the axis is that of the ideal execution
// with each moment stretched by max(n/P, 1), where n threads run: all of them are shown as running,
// each on its share of the CPUs.
//
// Immutable after construction; safe for any number of threads. Holds what it was made from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/completion.h"
#include "simulation/schedule.h"
#include "simulation/simulator.h"
#include "trace/recording.h"

namespace longpole::analysis {

using PartIndex = std::uint32_t;
inline constexpr PartIndex no_part = 0xffffffffU;

struct Part {
  Nanoseconds ready{};  // could go on; blocked since the end of the thread's part before
  Nanoseconds start{};  // had a CPU
  Nanoseconds end{};
  Nanoseconds length{};  // what the weight is per unit of: the segment's, in the ideal execution
  PartIndex released_by = no_part;  // whose end made it ready; no_part: ready at time 0
  PartIndex given_by = no_part;     // whose end gave it the CPU that it waited for
  std::uint32_t event = 0;          // that it computes towards, or waits in
  std::uint32_t thread = 0;
  std::uint32_t cpu = simulation::no_cpu;  // no_cpu: off the CPU, or not known
  bool running = true;                     // false: off the CPU for a fixed time
  bool cut = false;                        // the CPU was taken away before the call was reached
};

enum class SpanState : std::uint8_t { running, runnable, blocked, io, sleeping };
inline constexpr std::size_t span_state_count = 5;

// A thread in one state.
struct Span {
  Nanoseconds start{};
  Nanoseconds end{};
  SpanState state = SpanState::running;
  PartIndex part = no_part;  // that it is in, or before; behind the last part: no_part
  std::uint32_t event = 0;   // that it computes towards or waits in
};

// How the critical path came to a part.
enum class Arrival : std::uint8_t {
  onward,    // in its own thread, or at the start
  released,  // another thread's call let this one go
  given,     // another thread gave up the CPU that this one waited for
};
struct PathPart {
  PartIndex part = no_part;
  Nanoseconds start{};
  Nanoseconds end{};
  Arrival arrival = Arrival::onward;
};

class Execution {
 public:
  // `schedule` is an ideal execution of `recording`. `cpus` ≥ 1.
  Execution(std::shared_ptr<const Recording> recording,
            std::shared_ptr<const simulation::Schedule> schedule, std::uint32_t cpus,
            Scheduler scheduler);
  // What a machine of so many CPUs made of it.
  Execution(std::shared_ptr<const Recording> recording, simulation::SimulatedRun run,
            std::uint32_t cpus);

  [[nodiscard]] const Recording& recording() const { return *recording_; }
  [[nodiscard]] std::uint32_t cpus() const { return cpus_; }
  // Running threads share the CPUs: no more than those run at a moment.
  [[nodiscard]] bool shares() const { return shares_; }
  [[nodiscard]] Nanoseconds total() const { return total_; }
  [[nodiscard]] const std::optional<simulation::Deadlock>& deadlock() const;

  [[nodiscard]] std::size_t thread_count() const { return begin_->size() - 1; }
  // First part of the thread, and behind its last.
  [[nodiscard]] PartIndex begin(std::uint32_t thread) const { return (*begin_)[thread]; }
  [[nodiscard]] PartIndex end(std::uint32_t thread) const { return (*begin_)[thread + 1]; }
  [[nodiscard]] Part part(PartIndex index) const;
  [[nodiscard]] Nanoseconds end_of(PartIndex index) const;
  [[nodiscard]] const Event& event(const Part& part) const {
    return recording_->threads[part.thread].events[part.event];
  }
  // The part ends in the call of its event, for the first time.
  [[nodiscard]] bool makes_call(PartIndex index) const;
  // What ends in the thread's call of that number; no_part: it is never made here.
  [[nodiscard]] PartIndex part_of_call(std::uint32_t thread, std::uint32_t event) const;
  // The first part of the thread that ends later than `time`.
  [[nodiscard]] PartIndex first_after(std::uint32_t thread, Nanoseconds time) const;
  // It never goes on behind its last part.
  [[nodiscard]] bool stands_still(std::uint32_t thread) const { return stands_still_[thread]; }

  // The change of the completion time per unit of the part's length.
  [[nodiscard]] double weight(PartIndex index) const;
  [[nodiscard]] const std::vector<PathPart>& path() const { return path_; }

  // Calls `take(Span)` for each span of the thread from part `first` on, in order of time, as long as
  // it answers true. Spans without length are left out.
  template <typename Take>
  void spans(std::uint32_t thread, PartIndex first, const Take& take) const {
    const PartIndex last = end(thread);
    if (begin(thread) == last)
      return;
    Part before = first > begin(thread) ? part(first - 1) : Part{};
    Nanoseconds at = first > begin(thread) ? before.end : part(begin(thread)).ready;
    for (PartIndex index = first; index < last; ++index) {
      const Part now = part(index);
      if (now.ready > at && !take(Span{at, now.ready, SpanState::blocked, index, before.event}))
        return;
      if (now.start > now.ready &&
          !take(Span{now.ready, now.start, SpanState::runnable, index, now.event}))
        return;
      if (now.end > now.start && !take(Span{now.start, now.end, state_of(now), index, now.event}))
        return;
      at = now.end;
      before = now;
    }
    if (stands_still(thread) && total_ > at)
      take(Span{at, total_, SpanState::blocked, no_part, before.event});
  }

 private:
  [[nodiscard]] SpanState state_of(const Part& part) const;
  void stretch_axis();
  void find_path_of_ideal(std::uint32_t useful_cpus);
  void find_path_of_machine(PartIndex last);
  void find_stopped();

  std::shared_ptr<const Recording> recording_;
  std::shared_ptr<const simulation::Schedule> schedule_;  // none: of a machine
  simulation::SimulatedRun run_;                          // in order of threads; refers to parts
  std::vector<PartIndex> machine_begin_;
  const std::vector<PartIndex>* begin_ = nullptr;
  std::uint32_t cpus_ = 1;
  bool shares_ = false;
  Nanoseconds total_{};
  simulation::LargeArray<std::int64_t> ends_;  // on the stretched axis; empty: that of the schedule
  simulation::LargeArray<std::int64_t> scaled_weights_;
  std::uint32_t weight_scale_ = 1;
  std::vector<PathPart> path_;
  std::vector<bool> stands_still_;
};

}  // namespace longpole::analysis
