// The sweep of critical_path.h over all accounts, for many CPU counts at once. All of it but m(·) is
// the same for each count, and most of its time goes into reaching the segments; so a lane a count.
//
// What a segment passes to the one that released it is kept not by segment but in slots: between a
// releaser's end and the ends of what it released there is a running segment for each slot, so
// there are no more slots than threads, and they stay in the cache.
//
//   … releaser ─┬─ child 1 ───────┤   the slot of `releaser` collects λ of both children and is
//               └─ child 2 ─┤         taken when the sweep comes to the releaser's end
#include <algorithm>
#include <array>

#include "analysis/accounts.h"
#include "analysis/prefetch.h"

namespace longpole::analysis {

using simulation::LargeArray;
using simulation::no_segment;
using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;
using simulation::TimesCpus;

template <std::size_t lanes>
class Accounts::Sweep {
 public:
  Sweep(const Accounts& accounts, const Schedule& schedule, std::span<const std::uint32_t> cpus,
        const AccountSelection& selection)
      : accounts_(accounts),
        schedule_(schedule),
        account_of_(selection.account_of),
        slot_of_(schedule.segments.size(), no_index),
        started_by_thread_(schedule.thread_begin.size(), no_index),
        account_of_thread_(schedule.thread_begin.size(), 0),
        // And the one of what is left out, which nobody asks for.
        critical_(selection.cpu.size() + 1),
        normalized_(selection.cpu.size() + 1) {
    for (std::size_t l = 0; l < lanes; ++l) {
      cpus_[l] = cpus[std::min(l, cpus.size() - 1)];
      slowest_[l] = 1 / cpus_[l];
    }
    critical_calls_.resize(accounts.entered_.empty() ? 0 : accounts.recording_.functions.size());
  }

  // By what the processor has. Without fused operations, so that every processor gives the same bytes.
  void run() {
#ifdef __x86_64__
    if (lanes > 1 && __builtin_cpu_supports("avx2"))
      return run_four_at_a_time();
#endif
    run_through();
  }

  [[nodiscard]] AccountSums sums(std::size_t lane) const {
    AccountSums sums;
    sums.cpus = static_cast<std::uint32_t>(cpus_[lane]);
    sums.critical.reserve(critical_.size());
    sums.normalized.reserve(critical_.size());
    for (std::size_t account = 0; account + 1 < critical_.size(); ++account) {
      sums.critical.push_back(static_cast<TimesCpus>(critical_[account][lane]));
      sums.normalized.push_back(normalized_[account][lane]);
    }
    sums.critical_calls.assign(accounts_.recording_.functions.size(), 0);
    for (std::size_t f = 0; f < critical_calls_.size(); ++f)
      sums.critical_calls[f] = critical_calls_[f][lane];
    return sums;
  }

 private:
#ifdef __x86_64__
  [[gnu::target("avx2"), gnu::flatten]] void run_four_at_a_time() {
    run_through();
  }
#endif

  void run_through() {
    for (std::size_t t = 0; t + 1 < schedule_.thread_begin.size(); ++t)
      calls_end_.push_back(static_cast<std::size_t>(
          std::lower_bound(accounts_.entered_.begin(), accounts_.entered_.end(),
                           schedule_.thread_begin[t + 1],
                           [](const Call& call, SegmentIndex end) { return call.stretch < end; }) -
          accounts_.entered_.begin()));
    Lanes need_after{};  // nothing after the end of the program
    Nanoseconds later = schedule_.total;
    for (std::size_t i = schedule_.by_end.size(); i-- > 0;) {
      prefetch_segment(schedule_, i - near_ahead, i - far_ahead, slot_of_);
      if (i >= far_ahead)
        __builtin_prefetch(&account_of_[schedule_.by_end[i - far_ahead]]);
      const SegmentIndex index = schedule_.by_end[i];
      const Segment& segment = schedule_.segments[index];
      turn_clock_back(segment.running_after, (later - segment.end).count());
      later = segment.end;
      Lanes lambda = take_slot(index);
      const double running_before = i == 0
                                        ? schedule_.running_at_start
                                        : schedule_.segments[schedule_.by_end[i - 1]].running_after;
      for (std::size_t l = 0; l < lanes; ++l) {
        const double need_before = std::max(running_before, cpus_[l]);
        lambda[l] += need_before - need_after[l];
        need_after[l] = need_before;
      }
      const std::uint32_t account = account_of_[index];
      charge(index, account, segment, lambda);
      pass_on(account, segment, lambda);
    }
    turn_clock_back(schedule_.running_at_start, later.count());
    // What starts with the program was released by nobody.
    start(started_at_zero_);
  }

  // Whole numbers, of which sums are exact up to 2^53 (on 64 CPUs: more than a day), and which even old
  // processors add up two at a time.
  struct alignas(lanes == 1 ? alignof(double) : 64) Lanes : std::array<double, lanes> {};
  struct Slot {
    Lanes lambda{};
    std::uint32_t started = no_index;  // the threads whose segments started here, chained
  };

  // The clock of Quartz, Equation 1, runs at 1/min(running, cpus); here from the end.
  void turn_clock_back(std::uint32_t running, std::int64_t time) {
    if (running == 0 || time == 0)
      return;
    const double evenly = 1.0 / running;
    for (std::size_t l = 0; l < lanes; ++l)
      clock_[l] += static_cast<double>(time) * std::max(evenly, slowest_[l]);
  }

  Lanes take_slot(SegmentIndex index) {
    const std::uint32_t slot = slot_of_[index];
    if (slot == no_index)
      return {};
    const Lanes lambda = slots_[slot].lambda;
    start(slots_[slot].started);
    slots_[slot] = {};
    free_.push_back(slot);
    return lambda;
  }

  void start(std::uint32_t thread) {
    for (; thread != no_index; thread = started_by_thread_[thread]) {
      auto& normalized = normalized_[account_of_thread_[thread]];
      for (std::size_t l = 0; l < lanes; ++l)
        normalized[l] += clock_[l];
    }
  }

  void charge(SegmentIndex index, std::uint32_t account, const Segment& segment,
              const Lanes& lambda) {
    const std::int64_t length = (segment.end - segment.start).count();
    if (length != 0) {
      auto& critical = critical_[account];
      for (std::size_t l = 0; l < lanes; ++l)
        critical[l] += lambda[l] * static_cast<double>(length);
    }
    if (length != 0 && segment.running) {
      auto& normalized = normalized_[account];
      for (std::size_t l = 0; l < lanes; ++l)
        normalized[l] -= clock_[l];
    }
    if (critical_calls_.empty())
      return;
    std::size_t& end = calls_end_[segment.thread.index()];
    for (; end > 0 && accounts_.entered_[end - 1].stretch >= index; --end) {
      auto& calls = critical_calls_[accounts_.entered_[end - 1].function.index()];
      for (std::size_t l = 0; l < lanes; ++l)
        calls[l] += lambda[l] != 0 ? 1U : 0U;
    }
  }

  void pass_on(std::uint32_t account, const Segment& segment, const Lanes& lambda) {
    const bool counts = segment.running && segment.start != segment.end;
    const std::uint32_t thread = segment.thread.value;
    if (segment.released_by == no_segment) {
      if (counts)
        chain(started_at_zero_, thread, account);
      return;
    }
    std::uint32_t& slot = slot_of_[segment.released_by];
    if (slot == no_index) {
      if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.emplace_back();
      }
      slot = free_.back();
      free_.pop_back();
    }
    for (std::size_t l = 0; l < lanes; ++l)
      slots_[slot].lambda[l] += lambda[l];
    if (counts)
      chain(slots_[slot].started, thread, account);
  }

  void chain(std::uint32_t& head, std::uint32_t thread, std::uint32_t account) {
    account_of_thread_[thread] = account;
    started_by_thread_[thread] = head;
    head = thread;
  }

  const Accounts& accounts_;
  const Schedule& schedule_;
  const LargeArray<std::uint32_t>& account_of_;
  Lanes cpus_{};
  Lanes slowest_{};
  Lanes clock_{};
  LargeArray<std::uint32_t> slot_of_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> started_by_thread_;  // the next of a slot's chain
  std::vector<std::uint32_t> account_of_thread_;
  std::uint32_t started_at_zero_ = no_index;
  std::vector<Lanes> critical_;
  std::vector<Lanes> normalized_;
  std::vector<std::array<std::uint64_t, lanes>> critical_calls_;
  std::vector<std::size_t> calls_end_;  // per thread: entries up to here are still to come
};

template <std::size_t lanes>
void Accounts::sweep(const Schedule& schedule, std::span<const std::uint32_t> cpus,
                     const AccountSelection& selection, std::vector<AccountSums>& sums) const {
  Sweep<lanes> sweep(*this, schedule, cpus, selection);
  sweep.run();
  for (std::size_t l = 0; l < cpus.size(); ++l)
    sums.push_back(sweep.sums(l));
}

std::vector<AccountSums> Accounts::sum(const Schedule& schedule,
                                       std::span<const std::uint32_t> cpus) const {
  return sum(schedule, cpus, all_);
}

std::vector<AccountSums> Accounts::sum(const Schedule& schedule,
                                       std::span<const std::uint32_t> cpus,
                                       const AccountSelection& selection) const {
  constexpr std::size_t most = 32;
  constexpr std::size_t many = 16;
  constexpr std::size_t few = 8;
  std::vector<AccountSums> sums;
  while (!cpus.empty()) {
    const auto some = cpus.first(std::min(cpus.size(), most));
    if (some.size() == 1)
      sweep<1>(schedule, some, selection, sums);
    else if (some.size() <= few)
      sweep<few>(schedule, some, selection, sums);
    else if (some.size() <= many)
      sweep<many>(schedule, some, selection, sums);
    else
      sweep<most>(schedule, some, selection, sums);
    cpus = cpus.subspan(some.size());
  }
  return sums;
}

AccountSums Accounts::sum(const Schedule& schedule, std::uint32_t cpus) const {
  return std::move(sum(schedule, std::span(&cpus, 1)).front());
}

AccountSums Accounts::sum(const Schedule& schedule, const Weights& weights) const {
  AccountSums sums{weights.cpus, std::vector<TimesCpus>(all_.cpu.size(), 0), {}, {}};
  for (SegmentIndex s = 0; s < schedule.segments.size(); ++s) {
    const Segment& segment = schedule.segments[s];
    sums.critical[all_.account_of[s]] +=
        TimesCpus{weights.scaled[s]} * (segment.end - segment.start).count();
  }
  sums.critical_calls.assign(recording_.functions.size(), 0);
  for (const Call& call : entered_)
    sums.critical_calls[call.function.index()] += weights.scaled[call.stretch] != 0 ? 1U : 0U;
  return sums;
}

}  // namespace longpole::analysis
