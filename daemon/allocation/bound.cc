#include "allocation/bound.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

namespace longpole::allocation {
namespace {

// Twice the rounding error of a class's value, with room to spare: a thousand sums of ten thousand
// positive terms each, at 2^-53, for a value of at least 1.
constexpr double margin = 1e-8;

// Counts the ways in which q threads run, by how many of them share a CPU. Number: Integer, or double
// where the last digits do not matter (all counts fit it up to most_bound_threads).
//
// The product over the CPUs of Σ C(a, i) x^i for i ≤ load has at x^q the number of ways in which no
// CPU has more than `load`. Summed over the loads below the largest that gives f without the recursion
// of section 4.4.2, and without its π.
template <typename Number>
class LoadCounter {
 public:
  std::vector<Number> worst_loads(const Allocation& allocation, std::uint32_t most_running) {
    const std::uint32_t threads = std::accumulate(allocation.begin(), allocation.end(), 0U);
    std::vector<Number> sums(most_running + 1, Number(0));
    for (std::uint32_t load = 0; load < allocation.front(); ++load) {
      const std::vector<Number> within = ways_within(allocation, load, threads, most_running);
      const std::vector<Number>& all = binomials(threads);
      for (std::uint32_t q = 0; q <= most_running; ++q)
        sums[q] += all[q] - within[q];
    }
    return sums;
  }

 private:
  // For each q: the ways in which no CPU has more than `load` threads that run.
  std::vector<Number> ways_within(const Allocation& allocation, std::uint32_t load,
                                  std::uint32_t threads, std::uint32_t most_running) {
    std::vector<Number> product(1, Number(1));
    std::uint32_t limited = 0;
    for (const std::uint32_t on_cpu : allocation) {
      if (on_cpu <= load)
        break;
      limited += on_cpu;
      product = times(product, binomials(on_cpu), load + 1, most_running);
    }
    // Those that cannot be overloaded are as if on one CPU.
    const std::vector<Number>& rest = binomials(threads - limited);
    product = times(product, rest, rest.size(), most_running);
    product.resize(most_running + 1, Number(0));
    return product;
  }

  static std::vector<Number> times(const std::vector<Number>& left,
                                   const std::vector<Number>& right, std::size_t right_size,
                                   std::uint32_t highest) {
    const std::size_t size = std::min<std::size_t>(left.size() + right_size - 1, highest + 1);
    std::vector<Number> out(size, Number(0));
    for (std::size_t i = 0; i < std::min(left.size(), size); ++i) {
      for (std::size_t j = 0; j < std::min(right_size, size - i); ++j)
        out[i + j] += left[i] * right[j];
    }
    return out;
  }

  const std::vector<Number>& binomials(std::uint32_t n) {
    std::vector<Number>& row = rows_[n];
    if (row.empty()) {
      row.assign(n + 1, Number(1));
      for (std::uint32_t i = 1; i <= n; ++i)
        row[i] = row[i - 1] * (n - i + 1) / i;
    }
    return row;
  }

  std::map<std::uint32_t, std::vector<Number>> rows_;
};

// Ordered pairs of threads that share a CPU.
std::uint64_t pairs_together(const Allocation& allocation) {
  std::uint64_t pairs = 0;
  for (const std::uint64_t on_cpu : allocation)
    pairs += on_cpu * (on_cpu - 1);
  return pairs;
}

// `threads` spread evenly over `cpus`, behind what is there.
void add_evenly(Allocation& allocation, std::uint32_t threads, std::uint32_t cpus) {
  for (; threads > 0; --cpus) {
    const std::uint32_t here = (threads + cpus - 1) / cpus;
    allocation.push_back(here);
    threads -= here;
  }
}

// `threads` on as few CPUs as hold them, `most` each.
void add_tightly(Allocation& allocation, std::uint32_t threads, std::uint32_t most) {
  for (; threads > 0; threads -= allocation.back())
    allocation.push_back(std::min(threads, most));
}

}  // namespace

// A class of allocations has its first CPUs in common. No allocation in it is better than the thick
// part with the other threads spread evenly plus the thin part with them packed tightly.
//
//   common (5)  ──┬── (5, 2, 1, 1)   for the thick part
//                 └── (5, 4)         for the thin part
//
// The subclasses of a class differ in what the next CPU has. From the even share up, the thick part
// grows and the thin one shrinks; so they are evaluated one by one, and the others known to be no
// better than the last one's thick part with the best thin part of all.
class BoundFinder::Search {
 public:
  Search(const BoundFinder& finder, std::uint32_t cpus, Nanoseconds latency)
      : finder_(finder),
        threads_(finder.threads_),
        cpus_(std::min(cpus, finder.threads_)),
        latency_(latency),
        signalling_(finder.signalling(latency).convert_to<double>()),
        idle_(finder.idle_.convert_to<double>()) {}

  Bound run() {
    // Evenly where signals cost nothing: the thick part alone counts (Theorem 3).
    if (finder_.signalling(latency_) == 0) {
      Allocation even;
      add_evenly(even, threads_, cpus_);
      return {finder_.ratio(even, latency_), even, 1};
    }
    open_class({});
    while (!queue_.empty()) {
      const Entry entry = queue_.top();
      queue_.pop();
      if (best_ && is_no_better(entry))
        continue;
      if (entry.next_share > 0)
        subclass(entry.common, entry.next_share, {});
      else if (threads_in(entry.common) == threads_)
        settle(entry.common);
      else
        open_class(entry);
    }
    best_->evaluated = evaluated_;
    return *std::move(best_);
  }

 private:
  struct Entry {
    double least = 0;  // no allocation in it is better
    Allocation common;
    // 0: the class itself. Otherwise those of its subclasses whose next CPU has that many or more.
    std::uint32_t next_share = 0;
    std::optional<double> thick;  // of the class

    // What is looked at later: what is worse, and of equals what is less complete.
    friend bool operator<(const Entry& a, const Entry& b) {
      if (a.least != b.least)
        return a.least > b.least;
      const std::size_t size_a = a.common.size();
      const std::size_t size_b = b.common.size();
      if (size_a != size_b)
        return size_a < size_b;
      return std::tie(a.common, a.next_share) > std::tie(b.common, b.next_share);
    }
  };

  [[nodiscard]] static std::uint32_t threads_in(const Allocation& allocation) {
    return std::accumulate(allocation.begin(), allocation.end(), 0U);
  }
  [[nodiscard]] std::uint32_t most_on_next(const Allocation& common) const {
    const std::uint32_t left = threads_ - threads_in(common);
    return common.empty() ? left : std::min(left, common.back());
  }
  [[nodiscard]] Allocation evenly(Allocation common) const {
    const std::uint32_t left = threads_ - threads_in(common);
    const auto cpus = static_cast<std::uint32_t>(cpus_ - common.size());
    add_evenly(common, left, cpus);
    return common;
  }
  [[nodiscard]] Allocation tightly(Allocation common) const {
    add_tightly(common, threads_ - threads_in(common), most_on_next(common));
    return common;
  }

  double thick(const Allocation& allocation) {
    ++evaluated_;
    const std::vector<double> loads = counter_.worst_loads(allocation, finder_.most_running_);
    double sum = 0;
    for (std::size_t q = 0; q < loads.size(); ++q)
      sum += finder_.weights_[q] * loads[q];
    return sum;
  }
  [[nodiscard]] double thin(const Allocation& allocation) const {
    const double pairs = static_cast<double>(threads_) * (threads_ - 1);
    return signalling_ * (1 - static_cast<double>(pairs_together(allocation)) / pairs);
  }

  // Its first subclass has the even share, and so the thick part of the class.
  void open_class(const Entry& entry) {
    const std::uint32_t left = threads_ - threads_in(entry.common);
    const auto cpus = static_cast<std::uint32_t>(cpus_ - entry.common.size());
    subclass(entry.common, (left + cpus - 1) / cpus, entry.thick);
  }

  // That whose next CPU has `share`, and the others behind it, which are not looked at yet.
  void subclass(const Allocation& common, std::uint32_t share, std::optional<double> known_thick) {
    Entry entry;
    entry.common = common;
    entry.common.push_back(share);
    entry.thick = known_thick ? *known_thick : thick(evenly(entry.common));
    entry.least = *entry.thick + thin(tightly(entry.common)) + idle_;
    const std::uint32_t most = most_on_next(common);
    if (share < most) {
      Allocation tightest = common;
      tightest.push_back(most);
      queue_.push({*entry.thick + thin(tightly(tightest)) + idle_, common, share + 1, {}});
    }
    queue_.push(std::move(entry));
  }

  void settle(const Allocation& allocation) {
    Rational ratio = finder_.ratio(allocation, latency_);
    if (best_ && best_->ratio <= ratio)
      return;
    best_value_ = ratio.convert_to<double>();
    best_ = Bound{std::move(ratio), allocation, 0};
  }

  // Where rounding leaves it open, exactly.
  [[nodiscard]] bool is_no_better(const Entry& entry) const {
    if (entry.least > best_value_ + margin)
      return true;
    if (entry.least < best_value_ - margin)
      return false;
    Allocation thick = entry.common;
    Allocation thin = entry.common;
    if (entry.next_share > 0) {
      thick.push_back(entry.next_share);
      thin.push_back(most_on_next(entry.common));
    }
    return finder_.ratio_of_class(evenly(thick), tightly(thin), latency_) >= best_->ratio;
  }

  const BoundFinder& finder_;
  std::uint32_t threads_;
  std::uint32_t cpus_;
  Nanoseconds latency_;
  double signalling_;
  double idle_;
  LoadCounter<double> counter_;
  std::priority_queue<Entry> queue_;
  std::optional<Bound> best_;
  double best_value_ = 0;
  std::uint64_t evaluated_ = 0;
};

Bound BoundFinder::find(std::uint32_t cpus, Nanoseconds latency) const {
  return Search(*this, cpus, latency).run();
}

Expected<BoundFinder> BoundFinder::of(BoundParameters parameters) {
  const std::string what = "cannot bound the completion time";
  if (parameters.profile.empty())
    return bad_input(what, "there are no threads", "give the parallel profile of one or more");
  if (parameters.profile.size() > most_bound_threads)
    return over_limit(what,
                      "there are " + std::to_string(parameters.profile.size()) +
                          " threads and at most " + std::to_string(most_bound_threads) +
                          " (most_bound_threads) can be",
                      "record a run with fewer");
  Rational sum = 0;
  for (const Rational& part : parameters.profile) {
    if (part < 0)
      return bad_input(what, "a part of the time in the parallel profile is negative");
    sum += part;
  }
  if (sum > 1)
    return bad_input(what, "the parts of the time in the parallel profile add up to more than 1",
                     "give for 1, 2, … threads the part of the time in which so many run");
  if (sum == 0)
    return bad_input(what, "no thread ever runs");
  if (parameters.granularity < 0)
    return bad_input(what, "the number of signals is negative");
  return BoundFinder(std::move(parameters));
}

BoundFinder::BoundFinder(BoundParameters parameters)
    : parameters_(std::move(parameters)),
      threads_(static_cast<std::uint32_t>(parameters_.profile.size())),
      parallelism_(0),
      idle_(1) {
  for (std::uint32_t q = 1; q <= threads_; ++q) {
    const Rational& part = parameters_.profile[q - 1];
    if (part > 0)
      most_running_ = q;
    parallelism_ += part * q;
    idle_ -= part;
  }
  weights_.assign(most_running_ + 1, 0);
  Integer ways = 1;
  for (std::uint32_t q = 1; q <= most_running_; ++q) {
    ways = ways * (threads_ - q + 1) / q;
    weights_[q] = Rational(parameters_.profile[q - 1] / ways).convert_to<double>();
  }
}

Rational BoundFinder::thick(const Allocation& allocation) const {
  const std::vector<Integer> loads = worst_loads(allocation, most_running_);
  Rational sum = 0;
  Integer ways = 1;
  for (std::uint32_t q = 1; q <= most_running_; ++q) {
    ways = ways * (threads_ - q + 1) / q;
    if (parameters_.profile[q - 1] > 0)
      sum += parameters_.profile[q - 1] * Rational(loads[q], ways);
  }
  return sum;
}

Rational BoundFinder::signalling(Nanoseconds latency) const {
  return threads_ == 1 ? Rational(0) : parameters_.granularity * latency.count() * parallelism_;
}

Rational BoundFinder::ratio_of_class(const Allocation& thick_part, const Allocation& thin_part,
                                     Nanoseconds latency) const {
  Rational sum = thick(thick_part) + idle_;
  if (threads_ > 1) {
    const std::uint64_t pairs = std::uint64_t{threads_} * (threads_ - 1);
    sum +=
        signalling(latency) * Rational(Integer(pairs - pairs_together(thin_part)), Integer(pairs));
  }
  return sum;
}

Rational BoundFinder::ratio(const Allocation& allocation, Nanoseconds latency) const {
  return ratio_of_class(allocation, allocation, latency);
}

std::vector<Integer> worst_loads(const Allocation& allocation, std::uint32_t most_running) {
  return LoadCounter<Integer>().worst_loads(allocation, most_running);
}

Integer allocation_count(std::uint32_t threads, std::uint32_t cpus) {
  // ways[n]: to write n as a sum of parts of 1 … cpus, as many as of up to `cpus` parts.
  std::vector<Integer> ways(threads + 1, 0);
  ways[0] = 1;
  for (std::uint32_t part = 1; part <= std::min(cpus, threads); ++part) {
    for (std::uint32_t n = part; n <= threads; ++n)
      ways[n] += ways[n - part];
  }
  return ways[threads];
}

}  // namespace longpole::allocation
