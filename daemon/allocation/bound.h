// The completion-time bound: how fast every program with given properties can be made to run by
// binding its threads to CPUs well.
//
// p(n, k, t, z, V) is the least number for which each program of n threads with parallel profile V and
// granularity z has a binding to k CPUs, a latency of t apart, that takes at most p times as long as a
// CPU for each thread without latency. Some program attains it, so nothing sharper can be said of n, V
// and z alone. A binding that takes longer is surely not the best one; of one that takes less nothing
// is known.
//
//   const BoundFinder finder(*parameters);             V = (1/3, 1/3, 1/3), z = 5/6
//   finder.find(2, 0)->ratio   = 13/9                  allocation (2, 1)
//
// An allocation is how many threads each CPU has, the largest first, without the CPUs that have none:
// in the worst program all threads are alike. Exact: counts are integers of any size, the rest
// rational. Floating point only says where to look first, with an error bound.
//
// Pure; a BoundFinder may be asked from any number of threads at once.
// Source: thesis, Paper VII. The idle part of the program, for which the paper has no room, is added.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <vector>

#include "trace/error.h"
#include "trace/types.h"

namespace longpole::allocation {

using Integer = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;
using Allocation = std::vector<std::uint32_t>;

inline constexpr std::uint32_t most_bound_threads = 1000;

struct BoundParameters {
  // V: the part of the completion time, with a CPU for each thread, in which 1, 2, … n threads run.
  // Sums to 1 or less; the rest is idle.
  std::vector<Rational> profile;
  Rational granularity;  // z: signals per nanosecond of work
};

struct Bound {
  Rational ratio;  // p: of the completion time with a CPU for each thread
  Allocation allocation;
  std::uint64_t evaluated = 0;  // allocations whose thick part was computed
};

class BoundFinder {
 public:
  // Errors: no threads, more than most_bound_threads, negative entries or a sum above 1.
  [[nodiscard]] static Expected<BoundFinder> of(BoundParameters parameters);

  // By best-first branch and bound over allocation classes with lazy evaluation (sections 6.1–6.3).
  // `cpus` ≥ 1. Of several best allocations, the one that is found first: always the same.
  [[nodiscard]] Bound find(std::uint32_t cpus, Nanoseconds latency) const;

  // One allocation, which must have all threads: s(A, V) + z r(A, t, V), and the idle part.
  [[nodiscard]] Rational ratio(const Allocation& allocation, Nanoseconds latency) const;

  [[nodiscard]] const BoundParameters& parameters() const { return parameters_; }

 private:
  explicit BoundFinder(BoundParameters parameters);
  class Search;

  [[nodiscard]] Rational thick(const Allocation& allocation) const;
  // Its thick part by one allocation and its thin part by another.
  [[nodiscard]] Rational ratio_of_class(const Allocation& thick_part, const Allocation& thin_part,
                                        Nanoseconds latency) const;
  // z t Σ q V(q), of which an allocation pays the part of its pairs of threads that are on two CPUs.
  [[nodiscard]] Rational signalling(Nanoseconds latency) const;

  BoundParameters parameters_;
  std::uint32_t threads_ = 0;
  std::uint32_t most_running_ = 0;  // the last entry of V that is not 0
  Rational parallelism_;
  Rational idle_;
  std::vector<double> weights_;  // V(q) over the number of ways to choose q threads
};

// f(A, q, 0) for q = 0 … most_running (section 4.4.2): over all ways in which q of the threads run,
// the sum of how many the CPU with most of them has.
[[nodiscard]] std::vector<Integer> worst_loads(const Allocation& allocation,
                                               std::uint32_t most_running);

// How many allocations of that many threads to that many CPUs there are.
[[nodiscard]] Integer allocation_count(std::uint32_t threads, std::uint32_t cpus);

}  // namespace longpole::allocation
