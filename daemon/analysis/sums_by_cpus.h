// The sums of some or all threads (accounts.h) at the CPU counts that were asked for last: whoever asks
// for lines asks for functions next, and moves through a list of counts. Safe for any number of
// threads; what it is made from must outlive it.
#pragma once

#include <cstdint>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "analysis/accounts.h"

namespace longpole::analysis {

class SumsByCpus {
 public:
  using Sums = std::shared_future<AccountSums>;

  SumsByCpus(const Accounts& accounts, const simulation::Schedule& schedule);
  SumsByCpus(const Accounts& accounts, const simulation::Schedule& schedule, AccountSelection some);

  [[nodiscard]] bool of_all() const { return !some_.has_value(); }
  [[nodiscard]] const AccountSelection& selection() const {
    return some_ ? *some_ : accounts_.all();
  }

  // Computes what is not known yet, on as many threads as there are CPUs. What another thread is
  // computing is waited for where it is used.
  void prepare(std::span<const std::uint32_t> counts) const;
  [[nodiscard]] Sums at(std::uint32_t cpus) const;

 private:
  static constexpr std::size_t most_recent = 80;
  using Recent = std::list<std::pair<std::uint32_t, Sums>>;
  [[nodiscard]] Recent::iterator find(std::uint32_t cpus) const;

  const Accounts& accounts_;
  const simulation::Schedule& schedule_;
  std::optional<AccountSelection> some_;  // none: all threads
  mutable std::mutex mutex_;
  mutable Recent recent_;
};

}  // namespace longpole::analysis
