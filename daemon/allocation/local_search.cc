#include "allocation/local_search.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace longpole::allocation {
namespace {

// Draws that were all tested before, in a row, until all neighbours are looked at instead.
constexpr int most_draws = 32;
// Tests made ahead for each worker, at most.
constexpr std::uint64_t most_ahead = 8;

}  // namespace

std::uint64_t below(Random& random, std::uint64_t count) {
  // std::uniform_int_distribution may differ between standard libraries.
  const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() / count * count;
  std::uint64_t drawn = random();
  while (drawn >= limit)
    drawn = random();
  return drawn % count;
}

bool Progress::add(const Binding& binding, const Trial& trial) {
  ++result_.tests;
  result_.disturbed += trial.spread ? 1U : 0U;
  const bool is_best = result_.improvements.empty() || trial.at_worst() < result_.trial.at_worst();
  if (is_best) {
    result_.binding = binding;
    result_.trial = trial;
    result_.improvements.push_back({result_.tests, trial.at_worst()});
  }
  if (options_.progress)
    options_.progress(result_);
  return is_best;
}

bool Progress::is_over() {
  result_.stopped |= options_.stop.stop_requested();
  return result_.stopped || result_.tests >= options_.tests;
}

Walk::Walk(TestBench& bench, const SearchOptions& options, TestBench::Delays delays, Judges judges,
           Progress& progress)
    : bench_(bench), delays_(delays), judges_(judges), progress_(progress), random_(options.seed) {}

Expected<void> Walk::start(const Binding& binding) {
  Binding canonical = bench_.canonical(binding);
  auto trials = bench_.test({&canonical, 1}, delays_);
  if (!trials)
    return tl::unexpected(trials.error());
  auto trial = judged(canonical, trials->front(), Nanoseconds::max());
  if (!trial)
    return tl::unexpected(trial.error());
  if (history_.insert(canonical).second)
    progress_.add(canonical, *trial);
  base_ = {std::move(canonical), *std::move(trial)};
  step_.reset();
  return {};
}

Expected<void> Walk::run(const Propose& propose, const Decide& decide, std::uint64_t patience,
                         std::uint64_t most_tests) {
  Nanoseconds fastest = base_.trial.at_worst();
  std::uint64_t without_gain = 0;
  std::uint64_t tests = 0;
  while (!progress_.is_over() && (most_tests == 0 || tests < most_tests)) {
    const std::uint64_t ahead =
        bench_.workers() == 1
            ? 1
            : bench_.workers() * std::clamp<std::uint64_t>(without_gain / 4, 1, most_ahead);
    const std::vector<Candidate> next = candidates(propose, ahead);
    if (next.empty())
      return {};
    std::vector<Binding> bindings;
    for (const Candidate& candidate : next)
      bindings.push_back(candidate.binding);
    const auto trials = bench_.test(bindings, delays_);
    if (!trials)
      return tl::unexpected(trials.error());
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (i > 0 && (progress_.is_over() || tests == most_tests))
        return {};
      const auto trial = judged(next[i].binding, (*trials)[i], base_.trial.at_worst());
      if (!trial)
        return tl::unexpected(trial.error());
      random_ = next[i].random_after;
      history_.insert(next[i].binding);
      progress_.add(next[i].binding, *trial);
      ++tests;
      ++without_gain;
      if (trial->at_worst() < fastest) {
        fastest = trial->at_worst();
        without_gain = 0;
      }
      const Verdict verdict = decide(base_.trial, *trial);
      step_.reset();
      if (verdict == Verdict::keep)
        base_ = {next[i].binding, *trial};
      else if (verdict == Verdict::step)
        step_ = Place{next[i].binding, *trial};
      if (patience != 0 && without_gain >= patience)
        return {};
      if (verdict != Verdict::back)
        break;  // what was made ahead came from elsewhere
    }
  }
  return {};
}

Expected<Trial> Walk::judged(const Binding& binding, Trial trial, Nanoseconds at_worst) {
  if (judges_ == Judges::undisturbed || trial.deadlocks || trial.total > at_worst)
    return trial;
  auto disturbed = bench_.disturb(binding);
  if (!disturbed)
    return tl::unexpected(disturbed.error());
  trial.spread = disturbed->spread;
  return trial;
}

std::vector<Walk::Candidate> Walk::candidates(const Propose& propose, std::size_t count) {
  std::vector<Candidate> out;
  std::set<Binding> pending;
  Random random = random_;
  while (out.size() < count) {
    std::optional<Binding> binding;
    if (out.empty() && step_) {
      // Paper V Figure 1: where it was tested before, back to the best.
      Binding drawn = bench_.canonical(propose(step_->binding, step_->trial, random));
      if (!history_.contains(drawn))
        binding = std::move(drawn);
    }
    if (!binding)
      binding = untested(base_, propose, random, pending);
    if (!binding)
      break;
    pending.insert(*binding);
    out.push_back({*std::move(binding), random});
  }
  return out;
}

std::optional<Binding> Walk::untested(const Place& from, const Propose& propose, Random& random,
                                      const std::set<Binding>& pending) {
  const auto is_new = [&](const Binding& binding) {
    return !history_.contains(binding) && !pending.contains(binding);
  };
  for (int draw = 0; draw < most_draws; ++draw) {
    Binding drawn = bench_.canonical(propose(from.binding, from.trial, random));
    if (is_new(drawn))
      return drawn;
  }
  std::optional<Binding> chosen;  // each of those left with the same chance
  std::uint64_t left = 0;
  for_each_neighbour(from.binding, bench_.cpus(), [&](const Binding& neighbour) {
    Binding canonical = bench_.canonical(neighbour);
    if (is_new(canonical) && below(random, ++left) == 0)
      chosen = std::move(canonical);
  });
  return chosen;
}

Binding random_neighbour(const Binding& from, std::uint32_t cpus, Random& random) {
  Binding to = from;
  const bool are_together =
      std::all_of(from.begin(), from.end(), [&](std::uint32_t cpu) { return cpu == from.front(); });
  const std::size_t thread = below(random, from.size());
  if (below(random, 2) == 1 && !are_together) {
    std::size_t other = thread;
    while (from[other] == from[thread])
      other = below(random, from.size());
    std::swap(to[thread], to[other]);
  } else if (cpus > 1) {
    to[thread] = static_cast<std::uint32_t>((from[thread] + 1 + below(random, cpus - 1)) % cpus);
  }
  return to;
}

void for_each_neighbour(const Binding& from, std::uint32_t cpus,
                        const std::function<void(const Binding&)>& visit) {
  Binding to = from;
  for (std::size_t thread = 0; thread < from.size(); ++thread) {
    for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
      to[thread] = cpu;
      if (cpu != from[thread])
        visit(to);
    }
    to[thread] = from[thread];
    for (std::size_t other = thread + 1; other < from.size(); ++other) {
      if (from[other] == from[thread])
        continue;
      std::swap(to[thread], to[other]);
      visit(to);
      std::swap(to[thread], to[other]);
    }
  }
}

}  // namespace longpole::allocation
