// The sums of accounts.h over a run on a machine. A stretch of it is of the account of the ideal
// execution's segment that computes towards the same call of the same thread, or would if it came to it;
// all of a thread that is left out is of the one account behind the others, which is taken away in the end.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "analysis/accounts.h"
#include "analysis/execution.h"

namespace longpole::analysis {

using simulation::LargeArray;
using simulation::no_segment;
using simulation::Schedule;
using simulation::SegmentIndex;
using simulation::TimesCpus;

template <typename Visit>
void Accounts::for_each_part(const Schedule& schedule, const Execution& execution,
                             const AccountSelection& selection, const Visit& visit) const {
  const auto left_out = static_cast<std::uint32_t>(selection.cpu.size());
  std::vector<SegmentIndex> segment_of;   // by event of the thread
  std::vector<std::uint32_t> account_of;  // likewise
  auto unreached = unreached_.begin();
  for (std::uint32_t t = 0; t < execution.thread_count(); ++t) {
    const std::size_t events = recording_.threads[t].events.size();
    segment_of.assign(events, no_segment);
    account_of.assign(events, waiting);
    for (SegmentIndex s = schedule.thread_begin[t]; s < schedule.thread_begin[t + 1]; ++s) {
      if (schedule.segments[s].running) {
        segment_of[schedule.segments[s].event] = s;
        account_of[schedule.segments[s].event] = all_.account_of[s];
      }
    }
    for (; unreached != unreached_.end() && unreached->thread == t; ++unreached)
      account_of[unreached->event] = unreached->account;
    const bool is_left_out = !selection.is_selected.empty() && !selection.is_selected[t];
    for (PartIndex index = execution.begin(t); index < execution.end(t); ++index) {
      const std::uint32_t event = execution.event_number(index);
      const bool runs = execution.runs(index);
      visit(index,
            is_left_out ? left_out
            : runs      ? account_of[event]
                        : waiting,
            runs ? segment_of[event] : no_segment);
    }
  }
}

AccountSums Accounts::sum(const Schedule& schedule, const Execution& execution,
                          const AccountSelection& selection) const {
  const std::size_t accounts = selection.cpu.size();
  AccountSums sums{execution.weights().scale(), std::vector<TimesCpus>(accounts + 1, 0), {}, {}};
  std::vector<bool> weighs(entered_.empty() ? 0 : schedule.segments.size(), false);
  for_each_part(schedule, execution, selection,
                [&](PartIndex index, std::uint32_t account, SegmentIndex segment) {
                  // Whole numbers, as kept.
                  const std::int64_t weight = execution.weights().scaled(index);
                  if (weight == 0)
                    return;
                  sums.critical[account] += TimesCpus{weight} * execution.length_of(index).count();
                  if (account < accounts && segment != no_segment && !weighs.empty())
                    weighs[segment] = true;
                });
  sums.critical.pop_back();
  sums.critical_calls.assign(recording_.functions.size(), 0);
  for (const Call& call : entered_)
    sums.critical_calls[call.function.index()] += weighs[call.stretch] ? 1U : 0U;
  return sums;
}

void Accounts::add_normalized(const Schedule& schedule, const Execution& execution,
                              const AccountSelection& selection, AccountSums& sums) const {
  struct Change {
    Nanoseconds time;
    std::uint32_t account;
    bool begins;
  };
  LargeArray<Change> changes;
  for_each_part(schedule, execution, selection,
                [&](PartIndex index, std::uint32_t account, SegmentIndex /*segment*/) {
                  if (!execution.runs(index) || execution.length_of(index) == Nanoseconds{})
                    return;
                  const ExecutionPart part = execution.part(index);
                  changes.push_back({part.start, account, true});
                  changes.push_back({part.end, account, false});
                });
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::tie(a.time, a.account, a.begins) < std::tie(b.time, b.account, b.begins);
  });
  sums.normalized.assign(selection.cpu.size() + 1, 0);
  double clock = 0;  // Quartz, Equation 1: runs at 1/(CPUs busy)
  std::uint32_t busy = 0;
  Nanoseconds now{};
  for (const Change& change : changes) {
    if (change.time != now && busy > 0)
      clock += static_cast<double>((change.time - now).count()) / busy;
    now = change.time;
    busy += change.begins ? 1U : 0U;
    busy -= change.begins ? 0U : 1U;
    sums.normalized[change.account] += change.begins ? -clock : clock;
  }
  sums.normalized.pop_back();
}

}  // namespace longpole::analysis
