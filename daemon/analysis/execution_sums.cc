// The sums of accounts.h over a run on a machine. A stretch of it is of the account of the ideal
// execution's segment that computes towards the same call of the same thread.
#include <cmath>

#include "analysis/accounts.h"
#include "analysis/execution.h"

namespace longpole::analysis {

using simulation::Schedule;
using simulation::SegmentIndex;
using simulation::TimesCpus;

AccountSums Accounts::sum(const Schedule& schedule, const Execution& execution) const {
  AccountSums sums{execution.weight_scale(), std::vector<TimesCpus>(cpu_.size(), 0), {}, {}};
  std::vector<bool> weighs(entered_.empty() ? 0 : schedule.segments.size(), false);
  std::vector<SegmentIndex> segment_of;  // by event of the thread
  for (std::uint32_t t = 0; t < execution.thread_count(); ++t) {
    segment_of.assign(recording_.threads[t].events.size(), simulation::no_segment);
    for (SegmentIndex s = schedule.thread_begin[t]; s < schedule.thread_begin[t + 1]; ++s) {
      if (schedule.segments[s].running)
        segment_of[schedule.segments[s].event] = s;
    }
    for (PartIndex index = execution.begin(t); index < execution.end(t); ++index) {
      // Whole numbers, as kept.
      const auto weight = std::llround(execution.scaled_weight(index));
      if (weight == 0)
        continue;
      const SegmentIndex segment = execution.runs(index) ? segment_of[execution.event_number(index)]
                                                         : simulation::no_segment;
      const bool computes = segment != simulation::no_segment;
      sums.critical[computes ? account_of_[segment] : waiting] +=
          TimesCpus{weight} * execution.length_of(index).count();
      if (computes && !weighs.empty())
        weighs[segment] = true;
    }
  }
  sums.critical_calls.assign(recording_.functions.size(), 0);
  for (const Call& call : entered_)
    sums.critical_calls[call.function.index()] += weighs[call.stretch] ? 1U : 0U;
  return sums;
}

}  // namespace longpole::analysis
