#include "analysis/headroom.h"

#include <cmath>
#include <vector>

namespace longpole::analysis {
namespace {

class Shortening {
 public:
  Shortening(const Recording& recording, const simulation::Schedule& schedule,
             const Accounts& accounts, FunctionId function, std::uint32_t cpus)
      : original_(recording),
        schedule_(schedule),
        accounts_(accounts),
        function_(function),
        cpus_(cpus),
        shares_(accounts.shares_of(function)),
        shortened_(recording) {}

  // The function that leads when this one takes so much less time; none: still this one.
  FunctionId leader_after(double reduction) {
    for (std::size_t t = 0; t < original_.threads.size(); ++t) {
      const std::vector<Event>& events = original_.threads[t].events;
      for (std::size_t e = 0; e < events.size(); ++e) {
        const double share = events[e].profile.known() ? shares_[events[e].profile.index()] : 0;
        if (share == 0)
          continue;
        const double less = static_cast<double>(events[e].cpu.count()) * share * reduction;
        shortened_.threads[t].events[e].cpu = events[e].cpu - Nanoseconds{std::llround(less)};
      }
    }
    const simulation::Schedule schedule = simulation::simulate_ideal(shortened_);
    // Shorter stretches may let a thread be cancelled elsewhere; then the segments are others.
    if (schedule.thread_begin == schedule_.thread_begin)
      return leader(accounts_, schedule, reduction);
    return leader(Accounts(shortened_, schedule), schedule, reduction);
  }

 private:
  FunctionId leader(const Accounts& accounts, const simulation::Schedule& schedule,
                    double reduction) const {
    const std::vector<double> critical =
        accounts.critical_self(accounts.sum(schedule, cpus_), function_, reduction);
    FunctionId leader;
    double most = critical[function_.index()];
    for (std::uint32_t f = 0; f < original_.functions.size(); ++f) {
      if (f == function_.index() || critical[f] <= most)
        continue;
      leader = FunctionId{f};
      most = critical[f];
    }
    return leader;
  }

  const Recording& original_;
  const simulation::Schedule& schedule_;
  const Accounts& accounts_;
  FunctionId function_;
  std::uint32_t cpus_;
  std::vector<double> shares_;
  Recording shortened_;
};

}  // namespace

std::optional<Headroom> headroom_of_leader(const Recording& recording,
                                           const simulation::Schedule& schedule,
                                           const Accounts& accounts, FunctionId leader,
                                           std::uint32_t cpus) {
  constexpr int grid = 8;
  constexpr double precision = 1.0 / 16384;
  Shortening shortening(recording, schedule, accounts, leader, cpus);
  double leads_at = 0;
  Headroom headroom;
  for (int step = 1; step <= grid && !headroom.next.known(); ++step) {
    leads_at = static_cast<double>(step - 1) / grid;
    headroom.reduction = static_cast<double>(step) / grid;
    headroom.next = shortening.leader_after(headroom.reduction);
  }
  if (!headroom.next.known())
    return std::nullopt;
  while (headroom.reduction - leads_at > precision) {
    const double middle = (leads_at + headroom.reduction) / 2;
    const FunctionId next = shortening.leader_after(middle);
    if (next.known())
      headroom = {middle, next};
    else
      leads_at = middle;
  }
  return headroom;
}

}  // namespace longpole::analysis
