// Searches for a binding of threads to CPUs that makes the program fast.
//
//   TestBench bench(recording, machine, workers);
//   const auto found = search(bench, Algorithm::guided, {.tests = 500, .seed = 1});
//
//   block, round-robin, binpack   bindings that nothing is simulated for, but once in the end
//   sga            Paper IV section 4: thread by thread, the longest first, to the CPU where the program
//                  is fastest; those not yet placed run on shadow CPUs of their own
//   c-sga          Paper IV section 6: the better one of sga and binpack
//   greedy         Paper V Figure 1: from binpack on, threads are swapped or moved at random, and what is
//                  faster is kept; of what is as fast, the next step is taken from there
//   dynamic-start  Paper V section 3.5: greedy, again from a random binding whenever it is stuck
//   guided         ours: from the best of block, round-robin and binpack, as greedy, but what is swapped or
//                  moved are threads that held up the end of the program (delays.h); where it is stuck,
//                  again from near the best
//
// The same bench and options give the same answer, however many workers there are: tests are made ahead
// as if each were to fail, and what was made in vain is not counted. Only a stop request makes a
// difference.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "allocation/test_bench.h"

namespace longpole::allocation {

enum class Algorithm : std::uint8_t {
  block,
  round_robin,
  binpack,
  sga,
  c_sga,
  greedy,
  dynamic_start,
  guided,
};
inline constexpr std::size_t algorithm_count = 8;
[[nodiscard]] std::string_view name_of(Algorithm algorithm);
[[nodiscard]] std::optional<Algorithm> algorithm_named(std::string_view name);

struct SearchResult;

struct SearchOptions {
  // Of greedy, dynamic-start and guided; the others make as many as they need.
  std::uint64_t tests = 500;
  std::uint64_t seed = 1;
  // A search is stuck after so many tests without gain (Paper V section 3.4); 0: never.
  std::uint64_t patience = 100;
  // dynamic-start: so many tests from each start, whether stuck or not; 0: until it is stuck.
  std::uint64_t tests_per_start = 0;
  // guided: a binding is as fast as it is at worst when it is disturbed (disturbances.h), so that what
  // is found owes nothing to the order of things at the same moment. What is not disturbed, the
  // papers' searches and studies, counts as undisturbed.
  bool robust = false;
  // Ends the search soon; the best binding so far is the result.
  std::stop_token stop{};
  // Called after each test, or a few, by the thread that searches.
  std::function<void(const SearchResult& so_far)> progress{};
};

struct SearchResult {
  Binding binding;  // canonical; none: empty, while the search goes on
  Trial trial;
  std::uint64_t tests = 0;
  std::uint64_t disturbed = 0;  // of them: by disturbance_count simulations more
  bool stopped = false;         // by request, before it was through
  struct Improvement {
    std::uint64_t tests = 0;  // after how many
    Nanoseconds total{};      // Trial::at_worst
  };
  std::vector<Improvement> improvements;  // of the best so far, in order; the last is the result
};

// Errors: of the machine; and more shadow CPUs than a machine may have.
[[nodiscard]] Expected<SearchResult> search(TestBench& bench, Algorithm algorithm,
                                            const SearchOptions& options);

}  // namespace longpole::allocation
