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
// Calls that are shown are those that do not only end a stretch of computing.
//
// Immutable after construction; safe for any number of threads. Holds what it was made from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/completion.h"
#include "analysis/part_weights.h"
#include "analysis/path_index.h"
#include "analysis/span_index.h"
#include "analysis/subject_key.h"
#include "simulation/schedule.h"
#include "simulation/simulator.h"
#include "trace/recording.h"

namespace longpole::analysis {

struct ExecutionPart {
  Nanoseconds ready{};  // could go on; blocked since the end of the thread's part before
  Nanoseconds start{};  // had a CPU
  Nanoseconds end{};
  Nanoseconds length{};  // what the weight is per unit of: the segment's, in the ideal execution
  PartIndex released_by = no_part;  // whose end made it ready; no_part: ready at time 0
  PartIndex given_by = no_part;     // whose end gave it the CPU that it waited for
  std::uint32_t event = 0;          // that it computes towards, or waits in
  std::uint32_t thread = 0;
  std::uint32_t cpu = simulation::no_cpu;  // no_cpu: off the CPU, or not known
  bool running = true;  // false: off the CPU for a fixed time, or it spins there for a lock
  bool cut = false;     // the CPU was taken away, or the program ended, before the call was reached

  [[nodiscard]] bool waited_for_cpu() const { return start > ready && given_by != no_part; }
  // Whose end let it start; no_part: it starts at time 0.
  [[nodiscard]] PartIndex hangs_on() const { return waited_for_cpu() ? given_by : released_by; }
};

// A thread in one state.
struct Span {
  Nanoseconds start{};
  Nanoseconds end{};
  SpanState state = SpanState::running;
  PartIndex part = no_part;  // that it is in, or before; behind the last part: no_part
  std::uint32_t event = 0;   // that it computes towards or waits in
  bool is_of_part = false;   // false: before it, blocked or runnable
};

[[nodiscard]] bool is_shown_call(EventKind kind);

class Execution {
 public:
  // begin_ may point into the object.
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // `schedule` is an ideal execution of `recording`. `cpus` ≥ 1.
  Execution(std::shared_ptr<const Recording> recording,
            std::shared_ptr<const simulation::Schedule> schedule, std::uint32_t cpus,
            Scheduler scheduler);
  // What a machine of so many CPUs made of it.
  Execution(std::shared_ptr<const Recording> recording, simulation::SimulatedRun run,
            std::uint32_t cpus);

  [[nodiscard]] const Recording& recording() const { return *recording_; }
  [[nodiscard]] const std::shared_ptr<const Recording>& shared_recording() const {
    return recording_;
  }
  [[nodiscard]] std::uint32_t cpus() const { return cpus_; }
  // Running threads share the CPUs: no more than those run at a moment.
  [[nodiscard]] bool shares() const { return shares_; }
  [[nodiscard]] Nanoseconds total() const { return total_; }
  [[nodiscard]] const std::optional<simulation::Deadlock>& deadlock() const;

  [[nodiscard]] std::size_t thread_count() const { return begin_->size() - 1; }
  // First part of the thread, and behind its last.
  [[nodiscard]] PartIndex begin(std::uint32_t thread) const { return (*begin_)[thread]; }
  [[nodiscard]] PartIndex end(std::uint32_t thread) const { return (*begin_)[thread + 1]; }
  [[nodiscard]] ExecutionPart part(PartIndex index) const;
  [[nodiscard]] Nanoseconds end_of(PartIndex index) const;
  // ExecutionPart::event, ::released_by, ::length and ::cpu, at less cost.
  [[nodiscard]] std::uint32_t event_number(PartIndex index) const {
    return schedule_ != nullptr ? schedule_->segments[index].event : run_.stretches[index].event;
  }
  // Brings near what event_number() and the like will look at. Always inlined: gcc 12 takes a function that
  // does nothing but prefetch for one without effect, and drops the call.
  [[gnu::always_inline]] void prefetch(PartIndex index) const {
    if (schedule_ != nullptr)
      __builtin_prefetch(&schedule_->segments[index]);
    else
      __builtin_prefetch(&run_.stretches[index]);
  }
  [[nodiscard]] PartIndex released_by(PartIndex index) const {
    return simulated(index).released_by;
  }
  [[nodiscard]] Nanoseconds length_of(PartIndex index) const { return simulated(index).length; }
  [[nodiscard]] std::uint32_t cpu_of(PartIndex index) const {
    return schedule_ != nullptr ? simulation::no_cpu : run_.stretches[index].cpu;
  }
  [[nodiscard]] const Event& event(const ExecutionPart& part) const {
    return recording_->threads[part.thread].events[part.event];
  }
  [[nodiscard]] const SubjectKeys& subject_keys() const { return subject_keys_; }
  // ExecutionPart::running.
  [[nodiscard]] bool runs(PartIndex index) const { return simulated(index).running; }
  // The part ends in the call of its event, for the first time.
  [[nodiscard]] bool makes_call(PartIndex index) const;
  // What ends in the thread's call of that number; no_part: it is never made here.
  [[nodiscard]] PartIndex part_of_call(std::uint32_t thread, std::uint32_t event) const;
  // The first part of the thread that ends later than `time`.
  [[nodiscard]] PartIndex first_after(std::uint32_t thread, Nanoseconds time) const;
  // That ends last: the end of the path.
  [[nodiscard]] PartIndex last_part() const { return last_part_; }
  // It never goes on behind its last part.
  [[nodiscard]] bool stands_still(std::uint32_t thread) const { return stands_still_[thread]; }

  // The change of the completion time per unit of the part's length.
  [[nodiscard]] double weight(PartIndex index) const {
    return static_cast<double>(weights_.scaled(index)) / weights_.scale();
  }
  [[nodiscard]] const PartWeights& weights() const { return weights_; }
  [[nodiscard]] const PathIndex& path() const { return path_; }

  [[nodiscard]] const SpanIndex& index() const { return index_; }
  // The kind of the shown call that the part ends in, plus one; 0: it ends in none.
  [[nodiscard]] std::uint8_t shown_call(PartIndex index) const { return calls_[index]; }
  [[nodiscard]] std::span<const std::uint8_t> shown_calls(PartIndex first, PartIndex behind) const {
    return {calls_.data() + first, calls_.data() + behind};
  }
  // The kinds that there are of them in the thread, a bit each.
  [[nodiscard]] std::uint64_t shown_kinds(std::uint32_t thread) const {
    return shown_kinds_[thread];
  }
  // Memory beside the recording and its schedule.
  [[nodiscard]] std::size_t bytes() const;

  // Calls `take(Span)` for each span of the thread that ends later than `from`, in order of time, as
  // long as it answers true. Spans without length are left out.
  template <typename Take>
  void spans(std::uint32_t thread, Nanoseconds from, const Take& take) const {
    SpanIndex::Reader reader(index_, thread, index_.block_at(thread, from.count()));
    while (reader.next()) {
      if (reader.end <= from.count() || reader.end == reader.start)
        continue;
      if (!take(span(thread, reader)))
        return;
    }
  }
  [[nodiscard]] Span span(std::uint32_t thread, const SpanIndex::Reader& reader) const;
  // Span::event from the rest, and the part that is for.
  [[nodiscard]] std::uint32_t event_of(std::uint32_t thread, const Span& span) const {
    return event_number(part_of_event(thread, span));
  }
  [[nodiscard]] PartIndex part_of_event(std::uint32_t thread, const Span& span) const {
    if (span.part == no_part)
      return end(thread) - 1;
    return span.state == SpanState::blocked && !span.is_of_part ? span.part - 1 : span.part;
  }

 private:
  // Of the part as it was simulated; `ends`, where there are any, on the stretched axis.
  [[nodiscard]] ExecutionPart simulated(PartIndex index) const;
  [[nodiscard]] SpanState state_of(const ExecutionPart& part) const;
  [[nodiscard]] simulation::LargeArray<std::int64_t> stretched_ends() const;
  void find_path_of_ideal(const simulation::LargeArray<PartIndex>& chain,
                          const simulation::LargeArray<std::int64_t>& ends);
  // `place`: of a stretch, in the order of ends, among the parts.
  void find_path_of_machine(const simulation::LargeArray<PartIndex>& place);
  void sort_by_threads(const simulation::LargeArray<PartIndex>& place);
  void find_stopped();
  void make_index(const simulation::LargeArray<std::int64_t>& ends);
  [[nodiscard]] SpanIndex spans_of(std::uint32_t first_thread, std::uint32_t behind,
                                   const simulation::LargeArray<std::int64_t>& ends);

  std::shared_ptr<const Recording> recording_;
  SubjectKeys subject_keys_{*recording_};
  std::shared_ptr<const simulation::Schedule> schedule_;  // none: of a machine
  simulation::SimulatedRun run_;                          // in order of threads; refers to parts
  std::vector<PartIndex> machine_begin_;
  const std::vector<PartIndex>* begin_ = nullptr;
  std::uint32_t cpus_ = 1;
  bool shares_ = false;
  bool stretched_ = false;  // the axis is not that of the schedule
  Nanoseconds total_{};
  SpanIndex index_;
  simulation::LargeArray<std::uint8_t> calls_;
  static_assert(event_kind_count <= 64);
  std::vector<std::uint64_t> shown_kinds_;  // by thread
  PartWeights weights_;
  PartIndex last_part_ = no_part;
  PathIndex path_;
  std::vector<bool> stands_still_;
};

}  // namespace longpole::analysis
