// Accounts: the time of every segment, added up for functions and lines.
//
// All stretches of computing of one profile and one lineage (call_tree.h) are of one account; there
// are as many accounts as different stretches, not as many as events. A question at some CPU count
// adds up the accounts by one sweep over the segments and then distributes each account once over
// the entries of its profile. So a question is linear in the segments, whatever the profiles hold.
//
//   segments ──sum──▶ accounts ──share──▶ nodes of the call tree ──add up──▶ functions
//                                                               └──────────▶ lines
//
// Immutable after construction; safe for any number of threads. The Recording must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/call_tree.h"
#include "analysis/critical_path.h"
#include "simulation/simulate.h"

namespace longpole::analysis {

class Execution;

// Which threads are added up: all, or some.
struct AccountSelection {
  simulation::LargeArray<std::uint32_t>
      account_of;                 // by segment; of the threads that are left out:
                                  // the number of accounts, one more than there is
  std::vector<std::int64_t> cpu;  // what the threads computed, ns; by account
  std::vector<bool> is_selected;  // by thread; empty: all are
};

// Account 0 is the waiting: segments off the CPU.
struct AccountSums {
  std::uint32_t cpus = 1;
  std::vector<simulation::TimesCpus> critical;  // Σ weight · length, times cpus; by account
  std::vector<double> normalized;  // Quartz, Equation 1, in ns; by account. Empty: not asked for
  std::vector<std::uint64_t> critical_calls;  // entries on the path; by function
};

// In nanoseconds. What the columns mean: FunctionRow and LineRow in study.h.
struct FunctionTimes {
  double self = 0;
  double total = 0;
  double critical_self = 0;
  double critical_total = 0;
  double normalized_self = 0;
  double normalized_total = 0;
};
struct LineTimes {
  double self = 0;
  double critical = 0;
};

struct LinePlace {
  FileId file;  // none: the function's lines are not known
  std::uint32_t line = 0;
  FunctionId function;  // that has most of the line's CPU time; none: nothing is known
  std::uint64_t samples = 0;
};

class Accounts {
 public:
  static constexpr std::uint32_t waiting = 0;

  // Of what the functions did in `schedule`, an ideal execution of `recording`.
  Accounts(const Recording& recording, const simulation::Schedule& schedule);

  // The sums on so many CPUs under `shared`, in the order asked for. Many counts at once cost little
  // more than one.
  [[nodiscard]] std::vector<AccountSums> sum(const simulation::Schedule& schedule,
                                             std::span<const std::uint32_t> cpus) const;
  [[nodiscard]] AccountSums sum(const simulation::Schedule& schedule, std::uint32_t cpus) const;
  // Of the selected threads alone: their weights are those in the whole program's completion time.
  [[nodiscard]] std::vector<AccountSums> sum(const simulation::Schedule& schedule,
                                             std::span<const std::uint32_t> cpus,
                                             const AccountSelection& selection) const;
  // The same along weights from elsewhere (a path that somebody marked), without `normalized`.
  [[nodiscard]] AccountSums sum(const simulation::Schedule& schedule, const Weights& weights) const;

  // Of a run of the same recording on a machine, whose scale `cpus` is that of its weights; without
  // `normalized`. What the machine itself takes is in no account.
  [[nodiscard]] AccountSums sum(const simulation::Schedule& schedule, const Execution& execution,
                                const AccountSelection& selection) const;
  // `normalized` of such sums: a stretch's switches and slower CPUs are part of its time there.
  void add_normalized(const simulation::Schedule& schedule, const Execution& execution,
                      const AccountSelection& selection, AccountSums& sums) const;

  [[nodiscard]] const AccountSelection& all() const { return all_; }
  // `is_selected` by thread. Linear in the segments.
  [[nodiscard]] AccountSelection select(const simulation::Schedule& schedule,
                                        const std::vector<bool>& is_selected) const;

  // By function id, and one more at the end: CPU time of which nothing is known.
  // The sums are those of the selection; without one, of all threads.
  [[nodiscard]] std::vector<FunctionTimes> functions(const AccountSums& sums) const;
  [[nodiscard]] std::vector<FunctionTimes> functions(const AccountSums& sums,
                                                     const AccountSelection& selection) const;
  // Parallel to line_places().
  [[nodiscard]] std::vector<LineTimes> lines(const AccountSums& sums,
                                             const AccountSelection& selection) const;
  // Half the 95% confidence interval of LineTimes::critical, from the numbers of samples behind the
  // shares (Agresti and Coull, 1998); 0 where they are exact. Parallel to line_places().
  [[nodiscard]] std::vector<double> line_margins(const AccountSums& sums) const;
  // The same of FunctionTimes::critical_self. As functions().
  [[nodiscard]] std::vector<double> function_margins(const AccountSums& sums) const;
  [[nodiscard]] const std::vector<LinePlace>& line_places() const { return lines_; }

  // FunctionTimes::critical_self of a program in which all computing of `reduced` was shortened by
  // the share `reduction`; `sums` are those of the shortened program. As functions().
  [[nodiscard]] std::vector<double> critical_self(const AccountSums& sums, FunctionId reduced,
                                                  double reduction) const;

  // By profile: the part of it that is charged to the function, 0…1.
  [[nodiscard]] std::vector<double> shares_of(FunctionId function) const;
  // By profile: the function that has most of it.
  [[nodiscard]] std::vector<FunctionId> leading_functions() const;

  // By function: entries, where they are known, and the samples behind FunctionTimes::self.
  [[nodiscard]] const std::vector<std::optional<std::uint64_t>>& calls() const { return calls_; }
  [[nodiscard]] const std::vector<std::uint64_t>& samples() const { return samples_; }
  // False: system code that time only passes through on its way to the user's code.
  [[nodiscard]] bool is_shown(FunctionId function) const { return shown_[function.index()]; }

 private:
  struct Entry {
    NodeIndex node;  // no_index: nothing is known
    double share;
  };
  // Computing of a thread that the ideal execution does not come to, and a machine may: where the program exits, or
  // the models differ.
  struct Unreached {
    std::uint32_t thread;
    std::uint32_t event;
    std::uint32_t account;
  };
  struct Call {
    FunctionId function;
    simulation::SegmentIndex stretch;  // the computing that follows the entry at once
  };

  void open_accounts(const simulation::Schedule& schedule);
  void open_account(LineageIndex lineage, ProfileId profile);
  // visit(part, account, segment) for each part of the run, with the segment that has its account; no_segment: none has.
  template <typename Visit>
  void for_each_part(const simulation::Schedule& schedule, const Execution& execution,
                     const AccountSelection& selection, const Visit& visit) const;
  void find_calls(const simulation::Schedule& schedule);
  void find_lines();
  void find_shown_functions();
  template <std::size_t lanes>
  class Sweep;
  template <std::size_t lanes>
  void sweep(const simulation::Schedule& schedule, std::span<const std::uint32_t> cpus,
             const AccountSelection& selection, std::vector<AccountSums>& sums) const;
  [[nodiscard]] std::size_t function_index(NodeIndex node) const;
  // By place; `place_of` says where a node stands, below `places`.
  template <typename PlaceOf>
  [[nodiscard]] std::vector<double> margins(const AccountSums& sums, std::size_t places,
                                            const PlaceOf& place_of) const;

  const Recording& recording_;
  std::vector<StackId> charged_;  // by stack
  CallTree tree_;
  AccountSelection all_;
  std::vector<LineageIndex> lineage_of_;    // by account
  std::vector<ProfileId> profile_of_;       // by account
  std::vector<Entry> entries_;              // of all accounts, one after the other
  std::vector<std::size_t> entries_begin_;  // by account, and the end
  std::vector<LinePlace> lines_;
  std::vector<std::uint32_t> line_of_;  // by node; the last entry is for no node
  std::vector<Unreached> unreached_;    // in order of the threads
  std::vector<Call> entered_;           // in order of the stretches
  std::vector<std::optional<std::uint64_t>> calls_;
  std::vector<std::uint64_t> samples_;
  std::vector<bool> shown_;
};

}  // namespace longpole::analysis
