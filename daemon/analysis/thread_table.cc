#include "analysis/thread_table.h"

#include <algorithm>

#include "analysis/critical_path.h"

namespace longpole::analysis {

ThreadTable thread_table(const Recording& recording, const simulation::Schedule& ideal,
                         std::uint32_t cpus, Scheduler scheduler) {
  const CompletionTimes times(ideal, recording.threads.size());
  const Weights weights = extended_critical_path(ideal, times.useful(cpus, scheduler));
  ThreadTable table;
  table.cpus = cpus;
  table.total_ns = times.predict(cpus, scheduler).total_ns;
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    if (ideal.thread_begin[t] == ideal.thread_begin[t + 1])
      continue;
    ThreadRow row;
    row.thread = ThreadId{t};
    row.start = ideal.segments[ideal.thread_begin[t]].start;
    simulation::TimesCpus critical = 0;
    simulation::TimesCpus critical_waiting = 0;
    for (auto s = ideal.thread_begin[t]; s < ideal.thread_begin[t + 1]; ++s) {
      const simulation::Segment& segment = ideal.segments[s];
      const Nanoseconds length = segment.end - segment.start;
      (segment.running ? row.running : row.waiting) += length;
      (segment.running ? critical : critical_waiting) +=
          simulation::TimesCpus{weights.scaled[s]} * length.count();
      row.end = segment.end;
    }
    row.blocked = row.end - row.start - row.running - row.waiting;
    row.critical_ns = static_cast<double>(critical) / weights.cpus;
    row.critical_waiting_ns = static_cast<double>(critical_waiting) / weights.cpus;
    table.rows.push_back(row);
  }
  std::stable_sort(
      table.rows.begin(), table.rows.end(),
      [](const ThreadRow& a, const ThreadRow& b) { return a.critical_ns > b.critical_ns; });
  return table;
}

}  // namespace longpole::analysis
