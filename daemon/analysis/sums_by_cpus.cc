#include "analysis/sums_by_cpus.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace longpole::analysis {

SumsByCpus::SumsByCpus(const Accounts& accounts, const simulation::Schedule& schedule)
    : accounts_(accounts), schedule_(schedule) {}

SumsByCpus::SumsByCpus(const Accounts& accounts, const simulation::Schedule& schedule,
                       AccountSelection some)
    : accounts_(accounts), schedule_(schedule), some_(std::move(some)) {}

void SumsByCpus::prepare(std::span<const std::uint32_t> counts) const {
  std::vector<std::uint32_t> missing;
  std::vector<std::promise<AccountSums>> promises;
  {
    const std::scoped_lock lock(mutex_);
    for (const std::uint32_t cpus : counts) {
      if (find(cpus) != recent_.end())
        continue;
      missing.push_back(cpus);
      recent_.emplace_front(cpus, promises.emplace_back().get_future().share());
    }
    while (recent_.size() > std::max(most_recent, counts.size()))
      recent_.pop_back();
  }
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1,
                                                      std::max<std::size_t>(missing.size(), 1));
  const auto compute = [&](std::size_t part) {
    const std::size_t begin = missing.size() * part / threads;
    const std::size_t end = missing.size() * (part + 1) / threads;
    try {
      std::vector<AccountSums> sums =
          accounts_.sum(schedule_, std::span(missing).subspan(begin, end - begin), selection());
      for (std::size_t i = begin; i < end; ++i)
        promises[i].set_value(std::move(sums[i - begin]));
    } catch (...) {  // no memory: whoever asks for these is told
      for (std::size_t i = begin; i < end; ++i)
        promises[i].set_exception(std::current_exception());
    }
  };
  std::vector<std::future<void>> helpers;
  for (std::size_t part = 1; part < threads; ++part)
    helpers.push_back(std::async(std::launch::async, compute, part));
  compute(0);
}

SumsByCpus::Sums SumsByCpus::at(std::uint32_t cpus) const {
  prepare(std::span(&cpus, 1));
  const std::scoped_lock lock(mutex_);
  const auto at = find(cpus);
  if (at != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, at);
    return recent_.front().second;
  }
  std::promise<AccountSums> promise;  // pushed out by others meanwhile
  promise.set_value(std::move(accounts_.sum(schedule_, std::span(&cpus, 1), selection()).front()));
  return promise.get_future().share();
}

SumsByCpus::Recent::iterator SumsByCpus::find(std::uint32_t cpus) const {
  return std::find_if(recent_.begin(), recent_.end(),
                      [&](const auto& known) { return known.first == cpus; });
}

}  // namespace longpole::analysis
