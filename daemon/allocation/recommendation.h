// What is recommended to who asks for a binding: the fastest that any search finds, beside what the other
// searches find, threads that are left unbound, and the time that some binding surely reaches.
//
//   TestBench bench(recording, machine, workers);
//   const auto recommendation = recommend(bench, simulation::simulate_ideal(recording), {});
//
// Fastest is what is fastest at worst when it is disturbed (disturbances.h): a prediction that holds only
// while things come in one order is of no use to anybody. The same bench and inquiry give the same answer,
// unless a stop request ends a search.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "allocation/bound.h"
#include "allocation/search.h"
#include "simulation/schedule.h"

namespace longpole::allocation {

// guided first: the one that mostly finds the fastest.
[[nodiscard]] std::vector<Algorithm> all_algorithms();

// How far an inquiry is.
struct Standing {
  Algorithm algorithm;         // at work
  const SearchResult& so_far;  // of it
  const SearchResult& best;    // of all; none: its binding is empty
  std::uint64_t tests = 0;     // of all
  double share = 0;            // of the tests that all of them make at most
};

struct Inquiry {
  // The searches that are made, in this order; at least one.
  std::vector<Algorithm> algorithms = all_algorithms();
  // The recommendation is the fastest of all; else that of the first, and the others are there beside it.
  bool takes_fastest = true;
  // Of each search: its tests are not shared. `robust` and `progress` are not looked at. A stop request
  // ends the whole inquiry; the best so far is recommended.
  SearchOptions search{};
  // Called before each search; the token that it returns ends that one alone.
  std::function<std::stop_token(Algorithm)> begin{};
  // Called after each test, or a few, by the thread that asked.
  std::function<void(const Standing&)> progress{};
};

struct Recommendation {
  struct Found {
    Algorithm algorithm = Algorithm::guided;
    SearchResult result;  // its trial has its spread, unless the program stands still
  };
  Found found;
  std::vector<Found> others;  // in order of Algorithm; not those that a stop request cut short
  std::optional<Nanoseconds> unbound;  // none: the program stands still
  std::optional<Rational> bound;       // surely_reached() (bound_parameters.h)

  // Surely: only what lies above the bound is not the best.
  [[nodiscard]] bool better_exists() const {
    return bound && found.result.trial.total.count() > *bound;
  }
};

// `ideal`: the ideal execution of the bench's recording. Errors: of the machine. Searches for which it
// has too few CPUs (those with shadows) are left out, unless they come first.
[[nodiscard]] Expected<Recommendation> recommend(TestBench& bench,
                                                 const simulation::Schedule& ideal,
                                                 const Inquiry& inquiry);

}  // namespace longpole::allocation
