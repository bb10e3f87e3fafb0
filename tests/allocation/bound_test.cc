// The completion-time bound against its definition, and the papers' numbers (DESIGN section 8).
#include "allocation/bound.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "allocation/bound_parameters.h"
#include "simulation/simulate.h"
#include "storage/load.h"

namespace longpole::allocation {
namespace {

using Profile = std::vector<Rational>;

Rational fraction(const Integer& numerator, const Integer& denominator) {
  return Rational(numerator, denominator);
}

BoundFinder finder_of(Profile profile, const Rational& granularity) {
  auto finder = BoundFinder::of({std::move(profile), granularity});
  EXPECT_TRUE(finder.has_value());
  return *std::move(finder);
}

// All allocations of so many threads to up to so many CPUs, the largest first.
void for_each_allocation(std::uint32_t threads, std::uint32_t cpus,
                         const std::function<void(const Allocation&)>& visit) {
  Allocation allocation;
  const std::function<void(std::uint32_t)> extend = [&](std::uint32_t left) {
    if (left == 0) {
      visit(allocation);
      return;
    }
    if (allocation.size() == cpus)
      return;
    const std::uint32_t most = allocation.empty() ? left : std::min(left, allocation.back());
    for (std::uint32_t here = 1; here <= most; ++here) {
      allocation.push_back(here);
      extend(left - here);
      allocation.pop_back();
    }
  };
  extend(threads);
}

// Every way in which some of the threads run, as rows of the paper's binary matrix: f by its
// definition, for each number of threads that run.
std::vector<Integer> worst_loads_by_rows(const Allocation& allocation) {
  const std::uint32_t threads = std::accumulate(allocation.begin(), allocation.end(), 0U);
  std::vector<Integer> sums(threads + 1, 0);
  for (std::uint32_t row = 0; row < 1U << threads; ++row) {
    int worst = 0;
    std::uint32_t first = 0;
    for (const std::uint32_t on_cpu : allocation) {
      worst = std::max(worst, __builtin_popcount(row >> first & ((1U << on_cpu) - 1)));
      first += on_cpu;
    }
    sums[static_cast<std::size_t>(__builtin_popcount(row))] += worst;
  }
  return sums;
}

// p of one allocation by its definition: the worst program's rows, and each ordered pair of threads
// that signals once.
Rational ratio_by_rows(const Allocation& allocation, const Profile& profile,
                       const Rational& signal_time) {
  const auto threads = static_cast<std::uint32_t>(profile.size());
  const std::vector<Integer> loads = worst_loads_by_rows(allocation);
  Rational ratio = 1;
  Rational parallelism = 0;
  std::vector<std::uint32_t> ways(threads + 1, 0);
  for (std::uint32_t row = 0; row < 1U << threads; ++row)
    ++ways[static_cast<std::size_t>(__builtin_popcount(row))];
  for (std::uint32_t q = 1; q <= threads; ++q) {
    ratio += profile[q - 1] * (fraction(loads[q], ways[q]) - 1);
    parallelism += profile[q - 1] * q;
  }
  std::vector<std::uint32_t> cpu_of;
  for (std::uint32_t cpu = 0; cpu < allocation.size(); ++cpu)
    cpu_of.insert(cpu_of.end(), allocation[cpu], cpu);
  std::uint32_t apart = 0;
  std::uint32_t pairs = 0;
  for (std::uint32_t from = 0; from < threads; ++from) {
    for (std::uint32_t to = 0; to < threads; ++to) {
      pairs += from == to ? 0U : 1U;
      apart += cpu_of[from] == cpu_of[to] ? 0U : 1U;
    }
  }
  return pairs == 0 ? ratio : Rational(ratio + signal_time * parallelism * apart / pairs);
}

TEST(Bound, WorstLoadsAreThoseOfThePaper) {
  EXPECT_EQ(worst_loads({2, 2, 1}, 3)[3], 16);  // Table 4
}

TEST(Bound, PapersNumbers) {
  const Rational third = fraction(1, 3);
  const BoundFinder figure1 = finder_of({third, third, third}, fraction(5, 6));
  EXPECT_EQ(figure1.find(2, Nanoseconds{0}).ratio, fraction(13, 9));
  EXPECT_EQ(figure1.find(2, Nanoseconds{0}).allocation, (Allocation{2, 1}));
  EXPECT_EQ(figure1.find(2, Nanoseconds{1}).ratio, 2);
  EXPECT_EQ(figure1.find(2, Nanoseconds{1}).allocation, Allocation{3});
  const Rational half = fraction(1, 2);
  const BoundFinder eight = finder_of({0, 0, 0, 0, half, 0, half, 0}, fraction(1, 10));
  EXPECT_EQ(eight.find(3, Nanoseconds{2}).ratio, fraction(501, 140));
}

TEST(Bound, IdleTimeIsAdded) {
  EXPECT_EQ(finder_of({fraction(1, 4), fraction(1, 4)}, 0).find(1, Nanoseconds{0}).ratio,
            fraction(5, 4));
}

TEST(Bound, IsTheLeastOverAllAllocations) {
  std::mt19937 engine(1);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  for (std::uint32_t threads = 1; threads <= 8; ++threads) {
    for (std::uint32_t round = 0; round < 4; ++round) {
      Profile profile(threads);
      std::uint32_t sum = round % 2;  // whether there is idle time
      std::vector<std::uint32_t> parts(threads);
      for (std::uint32_t& part : parts)
        sum += part = round < 2 || random() % 2 == 0 ? random() % 9 : 0;
      if (sum == round % 2)
        sum += parts.back() = 1;
      for (std::uint32_t q = 0; q < threads; ++q)
        profile[q] = fraction(parts[q], sum);
      const Rational granularity = fraction(random() % 5, 7);
      const BoundFinder finder = finder_of(profile, granularity);
      for (std::uint32_t cpus = 1; cpus <= 5; ++cpus) {
        for (const std::int64_t latency : {0, 1, 2, 7}) {
          Rational least = -1;
          for_each_allocation(threads, cpus, [&](const Allocation& allocation) {
            const Rational ratio = ratio_by_rows(allocation, profile, granularity * latency);
            EXPECT_EQ(finder.ratio(allocation, Nanoseconds{latency}), ratio);
            if (least < 0 || ratio < least)
              least = ratio;
          });
          const Bound bound = finder.find(cpus, Nanoseconds{latency});
          EXPECT_EQ(bound.ratio, least) << threads << " threads, " << cpus << " CPUs";
          EXPECT_EQ(ratio_by_rows(bound.allocation, profile, granularity * latency), least);
          EXPECT_LE(bound.allocation.size(), cpus);
        }
      }
    }
  }
}

TEST(Bound, LooksAtFewAllocationsOfSeventyNineThreads) {
  EXPECT_EQ(allocation_count(79, 16), 6'158'681);
  Profile profile;
  for (std::uint32_t q = 1; q <= 79; ++q)
    profile.push_back(fraction(1, 79));
  const Bound bound = finder_of(profile, fraction(1, 50)).find(16, Nanoseconds{8});
  EXPECT_EQ(std::accumulate(bound.allocation.begin(), bound.allocation.end(), 0U), 79U);
  EXPECT_LE(bound.allocation.size(), 16U);
  EXPECT_GT(bound.evaluated, 1U);
  EXPECT_LT(bound.evaluated, 6'158U);
}

// Where any two allocations with the same largest CPU are equally good, and where all are.
TEST(Bound, TiesDoNotMakeItLookEverywhere) {
  Profile all_at_once(60, 0);
  all_at_once.back() = 1;
  EXPECT_LT(finder_of(all_at_once, fraction(1, 1'000'000)).find(12, Nanoseconds{1}).evaluated,
            9000);
  Profile one_by_one(60, 0);
  one_by_one.front() = 1;
  const Bound bound = finder_of(one_by_one, 1).find(12, Nanoseconds{1});
  EXPECT_EQ(bound.ratio, 1);
  EXPECT_EQ(bound.allocation, Allocation{60});
}

TEST(Bound, RefusesWhatIsNoProfile) {
  EXPECT_FALSE(BoundFinder::of({{}, 0}));
  EXPECT_FALSE(BoundFinder::of({{fraction(1, 2), fraction(2, 3)}, 0}));
  EXPECT_FALSE(BoundFinder::of({{fraction(-1, 2), 1}, 0}));
  EXPECT_FALSE(BoundFinder::of({{1}, -1}));
  EXPECT_FALSE(BoundFinder::of({{0}, 0}));
  EXPECT_FALSE(BoundFinder::of({Profile(most_bound_threads + 1, 0), 0}));
}

TEST(BoundParameters, OfARecording) {
  const auto recording = storage::load_recording(LONGPOLE_GOLDEN "/allocation-four.prog");
  ASSERT_TRUE(recording.has_value());
  const auto program = bound_parameters(*recording, simulation::simulate_ideal(*recording));
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(program->signals, 4U);
  EXPECT_EQ(program->work, std::chrono::milliseconds(4006));
  EXPECT_EQ(program->ideal, std::chrono::milliseconds(2005));
  // 1000 ms both run, 3 ms T1 alone; 1001 ms both, 1 ms T4 alone.
  EXPECT_EQ(program->parameters.profile, (Profile{fraction(4, 2005), fraction(2001, 2005), 0, 0}));
  EXPECT_EQ(program->parameters.granularity, fraction(4, 4006'000'000));
}

}  // namespace
}  // namespace longpole::allocation
