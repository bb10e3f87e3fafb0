// Study: everything that can be asked of one Recording, at any CPU count. What the command line
// prints and what the daemon sends are rows of these tables.
//
// Built once (it simulates the ideal execution); after that every question is const and may be
// asked from any thread. Holds the Recording by shared_ptr.
//
//   Study study(recording);
//   for (const FunctionRow& row : study.functions(8).rows) …
//
// Attribution: a sample or exact stretch is charged to the innermost frame of the user's own code
// (a function with debug information whose file is not a system file); where the call path has
// none, to its innermost frame. So the time of std::sort or memcpy stands at the user's line that
// called it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/completion.h"
#include "analysis/contention.h"
#include "analysis/execution.h"
#include "analysis/path.h"
#include "analysis/thread_table.h"
#include "simulation/schedule.h"
#include "trace/recording.h"

namespace longpole::analysis {

// One row per function. Times in nanoseconds; `critical_*` are Σ weight · time and may be negative.
struct FunctionRow {
  FunctionId function;  // none: CPU time of which nothing is known; there may be one such row
  std::optional<std::uint64_t> calls;           // all entries; none where calls were not recorded
  std::optional<std::uint64_t> critical_calls;  // entries on the path (the papers' count)
  double self_ns = 0;
  double total_ns =
      0;  // with descendants, each stretch once however often the function is on the stack
  double critical_self_ns = 0;
  double critical_total_ns = 0;
  double critical_share = 0;  // critical_self_ns / completion time
  // Quartz, Equation 1: each stretch divided by min(running, CPUs); what spins counts as running
  double normalized_self_ns = 0;
  double normalized_total_ns = 0;
  std::optional<double>
      headroom;  // reduction, 0…1, at which another function takes the lead; none: never, or not asked
  FunctionId next_leader;     // who that is; none: nobody, or it does not lead
  std::uint64_t samples = 0;  // behind self_ns; 0 and exact when written or counted exactly
  // Half the 95% confidence interval of critical_self_ns, as far as the number of samples goes; 0: exact.
  double margin_ns = 0;
};

// One row per line of a file, or per function where its lines are not known.
struct LineRow {
  FileId file;  // none: no debug information
  std::uint32_t line = 0;
  FunctionId function;  // of several at one line, the heaviest; none as in FunctionRow
  double self_ns = 0;
  double critical_ns = 0;
  double critical_share = 0;
  std::uint64_t samples = 0;
  // Half the 95% confidence interval of critical_ns, as far as the number of samples goes; 0: exact.
  double margin_ns = 0;
  bool distinct = true;  // false: the intervals of this line and the next below overlap
};

struct SegmentRow {
  ThreadId thread;
  FunctionId function;  // none: not known
  // In the ideal execution, whose segments are what is weighed: Σ weight · (end − start) over all
  // rows is the completion time on that many CPUs.
  double start_ns = 0;
  double end_ns = 0;
  double weight = 0;
  bool running = true;  // false: a sleep, I/O or other wait of fixed length
};

class Execution;
class SumsByCpus;

struct PathRow {
  PathStep step;
  FunctionId function;  // that has most of it; none: not known, or a wait
};

template <typename Row>
struct Table {
  std::uint32_t cpus = 1;
  double total_ns = 0;    // completion time on that many CPUs
  double waiting_ns = 0;  // critical time of sleeps and waits for I/O: what no function has
  // Of a run on a machine: what of the completion time the machine itself takes between the stretches
  // of the path (wake-ups, signals on their way). None: the weights are those of the ideal execution.
  std::optional<double> machine_ns;
  std::vector<Row>
      rows;  // heaviest first, ties by name or line; segments in order of thread and time,
             // the path in order of time
};

// A stretch of CPU counts with the same leader.
struct Lead {
  std::uint32_t from_cpus = 1;
  std::uint32_t to_cpus = 1;
  FunctionId function;  // none: no function has critical time
};

enum class WithHeadroom : bool { no, yes };  // headroom re-simulates a dozen times

// A wait inside no recorded call: it may be sleep or I/O, and may be for another thread, in a runtime
// whose calls nobody sees.
[[nodiscard]] bool is_unexplained_wait(const Event& event);

class Study {
 public:
  explicit Study(std::shared_ptr<const Recording> recording);
  ~Study();
  Study(Study&&) noexcept;
  Study& operator=(Study&&) noexcept;

  [[nodiscard]] const Recording& recording() const;
  [[nodiscard]] const simulation::Schedule& ideal() const;

  // `cpus` ≥ 1 throughout. Under `ideal` the count is carried into the answer and has no effect.
  [[nodiscard]] Prediction predict(std::uint32_t cpus, Scheduler scheduler) const;
  [[nodiscard]] Table<FunctionRow> functions(std::uint32_t cpus, Scheduler scheduler,
                                             WithHeadroom with_headroom) const;
  // Of a run of this recording on a machine, without headroom. What the machine itself takes is
  // charged to nothing.
  [[nodiscard]] Table<FunctionRow> functions(const Execution& execution) const;
  [[nodiscard]] Table<LineRow> lines(const Execution& execution) const;

  // Some threads, for the tables of what these alone do: what they weigh in the completion time of the
  // whole program, so that tables of disjoint choices add up to the whole program's. Refers to this
  // study. Entries are not counted by thread: `calls` and `critical_calls` are none, nor is there a
  // headroom; `samples` are those of all threads, for what threads do in the same place is pooled.
  [[nodiscard]] std::shared_ptr<const SumsByCpus> choose(std::span<const ThreadId> threads) const;
  [[nodiscard]] const SumsByCpus& all_threads() const;
  [[nodiscard]] Table<FunctionRow> functions(std::uint32_t cpus, Scheduler scheduler,
                                             const SumsByCpus& chosen) const;
  [[nodiscard]] Table<FunctionRow> functions(const Execution& execution,
                                             const SumsByCpus& chosen) const;
  [[nodiscard]] Table<LineRow> lines(std::uint32_t cpus, Scheduler scheduler,
                                     const SumsByCpus& chosen) const;
  [[nodiscard]] Table<LineRow> lines(const Execution& execution, const SumsByCpus& chosen) const;
  void prepare(std::span<const std::uint32_t> cpus, const SumsByCpus& chosen) const;

  // The function with the most critical time of its own at each CPU count from 1 on under `shared`:
  // where the lead changes hands is where another thing is worth optimising (Paper VI, section 4).
  [[nodiscard]] std::vector<Lead> leads(std::uint32_t up_to_cpus) const;
  // Makes the tables at these counts under `shared` cheap: all together cost little more than one.
  void prepare(std::span<const std::uint32_t> cpus) const;
  [[nodiscard]] Table<LineRow> lines(std::uint32_t cpus, Scheduler scheduler) const;
  [[nodiscard]] Table<SegmentRow> segments(std::uint32_t cpus, Scheduler scheduler) const;
  [[nodiscard]] Table<PathRow> path(std::uint32_t cpus, Scheduler scheduler) const;
  // Simulates up to most_simulated times.
  [[nodiscard]] ObjectTable objects(std::uint32_t cpus, Scheduler scheduler) const;
  [[nodiscard]] ThreadTable threads(std::uint32_t cpus, Scheduler scheduler) const;
  // What of Table::waiting_ns are unexplained waits. Sweeps all segments.
  [[nodiscard]] double unexplained_waiting_ns(std::uint32_t cpus, Scheduler scheduler) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The path of a run on a machine, as machine_path() has it.
struct MachinePath {
  Table<PathRow> table;
};
[[nodiscard]] MachinePath path_of_machine(const Execution& run);

}  // namespace longpole::analysis
