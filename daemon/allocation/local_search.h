// What the searches that go from binding to binding have in common: the neighbours of a binding, the
// history of what was tested, and tests that are made ahead.
#pragma once

#include <functional>
#include <random>
#include <set>
#include <vector>

#include "allocation/search.h"

namespace longpole::allocation {

using Random = std::mt19937_64;

// A whole number below `count`, the same on every system.
[[nodiscard]] std::uint64_t below(Random& random, std::uint64_t count);

// The search so far.
class Progress {
 public:
  Progress(const SearchOptions& options, SearchResult& result)
      : options_(options), result_(result) {}

  // Counts a test. True when it is the fastest so far.
  bool add(const Binding& binding, const Trial& trial);
  [[nodiscard]] const Binding& best() const { return result_.binding; }
  [[nodiscard]] bool is_over();  // stopped, or out of tests

 private:
  const SearchOptions& options_;
  SearchResult& result_;
};

// Walks among bindings by swaps and moves of threads, never testing one twice.
class Walk {
 public:
  // How fast a binding is: undisturbed, or at worst (SearchOptions::robust).
  enum class Judges : std::uint8_t { undisturbed, at_worst };
  Walk(TestBench& bench, const SearchOptions& options, TestBench::Delays delays, Judges judges,
       Progress& progress);

  // A neighbour of `from` at random; may be any.
  using Propose = std::function<Binding(const Binding& from, const Trial& trial, Random& random)>;
  // What became of a test.
  enum class Verdict : std::uint8_t {
    back,  // the next step is from the base again
    step,  // from the tested one, this once: then from the base again
    keep,  // the tested one is the new base
  };
  using Decide = std::function<Verdict(const Trial& base, const Trial& tested)>;

  // Starts at a binding: tests it if it is new.
  [[nodiscard]] Expected<void> start(const Binding& binding);
  // Until the budget is spent, nothing is left to try, or so many tests in a row are not faster than
  // the fastest of this walk (0: however many).
  [[nodiscard]] Expected<void> run(const Propose& propose, const Decide& decide,
                                   std::uint64_t patience, std::uint64_t most_tests);

  [[nodiscard]] bool is_known(const Binding& binding) const {
    return history_.contains(bench_.canonical(binding));
  }
  [[nodiscard]] Random& random() { return random_; }

 private:
  struct Place {
    Binding binding;
    Trial trial;
  };
  struct Candidate {
    Binding binding;
    Random random_after;
  };
  // Those that come next if all before fail; fewer than asked for where nothing is left.
  [[nodiscard]] std::vector<Candidate> candidates(const Propose& propose, std::size_t count);
  [[nodiscard]] std::optional<Binding> untested(const Place& from, const Propose& propose,
                                                Random& random, const std::set<Binding>& pending);

  // With its spread where that counts and it could replace one that is so fast `at_worst`.
  [[nodiscard]] Expected<Trial> judged(const Binding& binding, Trial trial, Nanoseconds at_worst);

  TestBench& bench_;
  TestBench::Delays delays_;
  Judges judges_;
  Progress& progress_;
  Random random_;
  std::set<Binding> history_;
  Place base_;
  std::optional<Place> step_;  // from where the next step is taken, if not from the base
};

// A random swap or move, as in Paper V Figure 1.
[[nodiscard]] Binding random_neighbour(const Binding& from, std::uint32_t cpus, Random& random);
// All that a swap or a move makes of it, one after the other.
void for_each_neighbour(const Binding& from, std::uint32_t cpus,
                        const std::function<void(const Binding&)>& visit);

[[nodiscard]] Expected<void> guided_search(TestBench& bench, const SearchOptions& options,
                                           Progress& progress);

}  // namespace longpole::allocation
