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

  // Does another function lead when the function takes that much less time?
  bool loses_lead(double reduction) {
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
      return loses_lead(accounts_, schedule, reduction);
    return loses_lead(Accounts(shortened_, schedule), schedule, reduction);
  }

 private:
  bool loses_lead(const Accounts& accounts, const simulation::Schedule& schedule,
                  double reduction) const {
    const std::vector<double> critical =
        accounts.critical_self(accounts.sum(schedule, cpus_), function_, reduction);
    for (std::size_t f = 0; f < original_.functions.size(); ++f) {
      if (f != function_.index() && critical[f] > critical[function_.index()])
        return true;
    }
    return false;
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

std::optional<double> headroom_of_leader(const Recording& recording,
                                         const simulation::Schedule& schedule,
                                         const Accounts& accounts, FunctionId leader,
                                         std::uint32_t cpus) {
  constexpr int grid = 8;
  constexpr double precision = 1.0 / 16384;
  Shortening shortening(recording, schedule, accounts, leader, cpus);
  int step = 1;
  while (step <= grid && !shortening.loses_lead(static_cast<double>(step) / grid))
    ++step;
  if (step > grid)
    return std::nullopt;
  double leads_at = static_cast<double>(step - 1) / grid;
  double loses_at = static_cast<double>(step) / grid;
  while (loses_at - leads_at > precision) {
    const double middle = (leads_at + loses_at) / 2;
    (shortening.loses_lead(middle) ? loses_at : leads_at) = middle;
  }
  return loses_at;
}

}  // namespace longpole::analysis
