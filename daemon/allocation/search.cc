#include "allocation/search.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "allocation/local_search.h"

namespace longpole::allocation {
namespace {

constexpr std::array<std::string_view, algorithm_count> names = {
    "block", "round-robin", "binpack", "sga", "c-sga", "greedy", "dynamic-start", "guided"};

// Random bindings that were all tested before, in a row, until there is nothing left to start from.
constexpr int most_starts_drawn = 1000;

class Search {
 public:
  Search(TestBench& bench, const SearchOptions& options)
      : bench_(bench),
        options_(options),
        progress_(options_, result_),
        work_(work_of_threads(bench.recording())) {}

  Expected<SearchResult> run(Algorithm algorithm) {
    auto done = run_algorithm(algorithm);
    if (!done)
      return tl::unexpected(done.error());
    return std::move(result_);
  }

 private:
  Expected<void> run_algorithm(Algorithm algorithm) {
    switch (algorithm) {
      case Algorithm::block:
        return test(block_binding(work_.size(), bench_.cpus()));
      case Algorithm::round_robin:
        return test(round_robin_binding(work_.size(), bench_.cpus()));
      case Algorithm::binpack:
        return test(bin_packed_binding(work_, bench_.cpus()));
      case Algorithm::sga:
        return simple_greedy();
      case Algorithm::c_sga:
        return simple_greedy().and_then(
            [&] { return test(bin_packed_binding(work_, bench_.cpus())); });
      case Algorithm::greedy:
      case Algorithm::dynamic_start:
        return greedy(algorithm == Algorithm::dynamic_start);
      case Algorithm::guided:
        return guided_search(bench_, options_, progress_);
    }
    return {};
  }

  Expected<void> test(const Binding& binding) {
    const Binding canonical = bench_.canonical(binding);
    const auto trials = bench_.test({&canonical, 1});
    if (!trials)
      return tl::unexpected(trials.error());
    progress_.add(canonical, trials->front());
    return {};
  }

  // Of several CPUs that nobody is on and that are alike, one is tested. What is not placed when the
  // search is stopped is packed.
  Expected<void> simple_greedy() {
    const auto cpus = bench_.cpus();
    Binding placed(work_.size());
    const std::vector<std::uint32_t> order = longest_first(work_);
    for (std::size_t i = 0; i < order.size(); ++i)
      placed[order[i]] = static_cast<std::uint32_t>(cpus + order.size() - 1 - i);
    Trial trial;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t thread = order[i];
      if (options_.stop.stop_requested()) {
        result_.stopped = true;
        return test(bin_packed_binding(work_, cpus));
      }
      std::vector<Binding> choices;
      std::set<Binding> known;
      for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
        Binding choice = placed;
        choice[thread] = cpu;
        if (known.insert(bench_.canonical(choice)).second)
          choices.push_back(std::move(choice));
      }
      // The first thread has no choice where all CPUs are alike.
      if (choices.size() == 1 && thread != order.back()) {
        placed = choices.front();
        continue;
      }
      const std::size_t left = order.size() - 1 - i;
      if (cpus + left > simulation::most_cpus)
        return over_limit(
            "cannot bind the threads one after the other",
            std::to_string(left) +
                " threads that are not placed yet would run on CPUs of their own, beside " +
                std::to_string(cpus) + "; a machine has at most " +
                std::to_string(simulation::most_cpus),
            "choose another algorithm than sga and c-sga");
      const auto trials = bench_.test(choices);
      if (!trials)
        return tl::unexpected(trials.error());
      const auto first =
          std::min_element(trials->begin(), trials->end(),
                           [](const Trial& a, const Trial& b) { return a.total < b.total; });
      trial = *first;
      placed = choices[static_cast<std::size_t>(first - trials->begin())];
      result_.tests += choices.size();
      if (options_.progress)
        options_.progress(result_);
    }
    --result_.tests;  // add() counts the last one
    progress_.add(bench_.canonical(placed), trial);
    return {};
  }

  Expected<void> greedy(bool starts_again) {
    Walk walk(bench_, options_, TestBench::Delays::no, Walk::Judges::undisturbed, progress_);
    const Walk::Propose propose = [&](const Binding& from, const Trial& /*trial*/, Random& random) {
      return random_neighbour(from, bench_.cpus(), random);
    };
    const Walk::Decide decide = [](const Trial& base, const Trial& tested) {
      if (tested.total == base.total)
        return Walk::Verdict::step;
      return tested.total < base.total ? Walk::Verdict::keep : Walk::Verdict::back;
    };
    const std::uint64_t per_start = starts_again ? options_.tests_per_start : 0;
    const std::uint64_t patience = per_start > 0 ? 0 : options_.patience;
    std::optional<Binding> from = bin_packed_binding(work_, bench_.cpus());
    while (from) {
      const std::uint64_t before = result_.tests;
      if (auto started = walk.start(*from); !started)
        return started;
      const std::uint64_t most = per_start == 0 ? 0 : per_start - (result_.tests - before);
      if (per_start != 1) {
        if (auto walked = walk.run(propose, decide, patience, most); !walked)
          return walked;
      }
      from.reset();
      if (starts_again && !progress_.is_over())
        from = new_start(walk);
    }
    return {};
  }

  std::optional<Binding> new_start(Walk& walk) const {
    for (int draw = 0; draw < most_starts_drawn; ++draw) {
      Binding binding(work_.size());
      for (std::uint32_t& cpu : binding)
        cpu = static_cast<std::uint32_t>(below(walk.random(), bench_.cpus()));
      if (!walk.is_known(binding))
        return binding;
    }
    return std::nullopt;
  }

  TestBench& bench_;
  const SearchOptions& options_;
  SearchResult result_;
  Progress progress_;
  std::vector<Nanoseconds> work_;
};

}  // namespace

std::string_view name_of(Algorithm algorithm) {
  return names[static_cast<std::size_t>(algorithm)];
}

std::optional<Algorithm> algorithm_named(std::string_view name) {
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    return std::nullopt;
  return static_cast<Algorithm>(found - names.begin());
}

Expected<SearchResult> search(TestBench& bench, Algorithm algorithm, const SearchOptions& options) {
  return Search(bench, options).run(algorithm);
}

}  // namespace longpole::allocation
