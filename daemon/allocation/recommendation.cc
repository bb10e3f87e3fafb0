#include "allocation/recommendation.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "allocation/bound_parameters.h"

namespace longpole::allocation {
namespace {

using Found = Recommendation::Found;

// Those that test one binding are worth their time even after a stop request.
bool tests_one(Algorithm algorithm) {
  return algorithm == Algorithm::block || algorithm == Algorithm::round_robin ||
         algorithm == Algorithm::binpack;
}

std::uint64_t most_tests(Algorithm algorithm, const TestBench& bench, std::uint64_t budget) {
  const std::uint64_t choices = std::uint64_t{bench.cpus()} * bench.recording().threads.size();
  if (tests_one(algorithm))
    return 1;
  if (algorithm == Algorithm::sga)
    return choices;
  return algorithm == Algorithm::c_sga ? choices + 1 : budget;
}

bool is_faster(const SearchResult& a, const SearchResult& b) {
  return std::tuple(a.trial.at_worst(), a.trial.total) <
         std::tuple(b.trial.at_worst(), b.trial.total);
}

class Inquirer {
 public:
  Inquirer(TestBench& bench, const Inquiry& inquiry) : bench_(bench), inquiry_(inquiry) {
    for (const Algorithm algorithm : inquiry.algorithms)
      all_tests_ += most_tests(algorithm, bench, inquiry.search.tests);
  }

  Expected<void> run() {
    for (const Algorithm algorithm : inquiry_.algorithms) {
      const bool is_first = all_.empty();
      if (!is_first && inquiry_.search.stop.stop_requested() && !tests_one(algorithm))
        continue;
      auto found = find(algorithm);
      if (!found && is_first)
        return tl::unexpected(found.error());
      if (found)
        take({algorithm, *std::move(found)});
    }
    return {};
  }

  void move_to(Recommendation& out) {
    out.found = std::move(all_[best_]);
    for (std::size_t algorithm = 0; algorithm < algorithm_count; ++algorithm) {
      for (std::size_t i = 0; i < all_.size(); ++i) {
        if (i != best_ && all_[i].algorithm == static_cast<Algorithm>(algorithm) &&
            !was_cut_short(all_[i].result))
          out.others.push_back(std::move(all_[i]));
      }
    }
    out.found.result.stopped |= inquiry_.search.stop.stop_requested();
  }

 private:
  Expected<SearchResult> find(Algorithm algorithm) {
    std::stop_source stop;
    const auto end = [&stop] { stop.request_stop(); };
    const std::stop_callback with_all(inquiry_.search.stop, end);
    const std::stop_callback alone(inquiry_.begin ? inquiry_.begin(algorithm) : std::stop_token(),
                                   end);
    SearchOptions options = inquiry_.search;
    options.robust = true;
    options.stop = stop.get_token();
    options.progress = [&](const SearchResult& so_far) { report(algorithm, so_far); };
    auto result = search(bench_, algorithm, options);
    ended_tests_ += most_tests(algorithm, bench_, inquiry_.search.tests);
    if (!result || result->trial.deadlocks)
      return result;
    made_tests_ += result->tests;
    auto predicted = bench_.predict(result->binding);
    if (!predicted)
      return tl::unexpected(predicted.error());
    result->trial = *std::move(predicted);
    return result;
  }

  void report(Algorithm algorithm, const SearchResult& so_far) const {
    if (!inquiry_.progress)
      return;
    const bool leads =
        all_.empty() || (inquiry_.takes_fastest && !so_far.binding.empty() && so_far.trial.spread &&
                         is_faster(so_far, all_[best_].result));
    inquiry_.progress(
        {algorithm, so_far, leads ? so_far : all_[best_].result, made_tests_ + so_far.tests,
         static_cast<double>(ended_tests_ + so_far.tests) / static_cast<double>(all_tests_)});
  }

  void take(Found found) {
    all_.push_back(std::move(found));
    if (inquiry_.takes_fastest && is_faster(all_.back().result, all_[best_].result))
      best_ = all_.size() - 1;
  }

  [[nodiscard]] bool was_cut_short(const SearchResult& result) const {
    return result.stopped && inquiry_.search.stop.stop_requested();
  }

  TestBench& bench_;
  const Inquiry& inquiry_;
  std::vector<Found> all_;
  std::size_t best_ = 0;
  std::uint64_t all_tests_ = 0;    // at most
  std::uint64_t ended_tests_ = 0;  // at most, of the searches that are over
  std::uint64_t made_tests_ = 0;   // by them
};

}  // namespace

std::vector<Algorithm> all_algorithms() {
  std::vector<Algorithm> all{Algorithm::guided};
  for (std::size_t i = 0; i < algorithm_count; ++i) {
    if (const auto algorithm = static_cast<Algorithm>(i); algorithm != Algorithm::guided)
      all.push_back(algorithm);
  }
  return all;
}

Expected<Recommendation> recommend(TestBench& bench, const simulation::Schedule& ideal,
                                   const Inquiry& inquiry) {
  Inquirer inquirer(bench, inquiry);
  if (const auto asked = inquirer.run(); !asked)
    return tl::unexpected(asked.error());
  Recommendation out;
  inquirer.move_to(out);
  const auto unbound = bench.predict_unbound();
  if (!unbound)
    return tl::unexpected(unbound.error());
  if (!unbound->deadlocks)
    out.unbound = unbound->total;
  out.bound = surely_reached(bench.recording(), ideal, bench.machine());
  return out;
}

}  // namespace longpole::allocation
