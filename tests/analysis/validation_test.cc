#include "analysis/validation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace longpole::analysis {
namespace {

std::vector<double> one_to(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1);
  std::reverse(values.begin(), values.end());
  return values;
}

// How probable it is that the median of a continuous distribution lies between the values of these
// ranks: each of 2^count equally probable ways to lie below it or above is looked at.
double coverage(std::size_t count, std::size_t low_rank, std::size_t high_rank) {
  std::uint64_t covered = 0;
  for (std::uint64_t below = 0; below < std::uint64_t{1} << count; ++below) {
    const auto number = static_cast<std::size_t>(__builtin_popcountll(below));
    covered += number >= low_rank && number < high_rank ? 1 : 0;
  }
  return static_cast<double>(covered) / std::exp2(static_cast<double>(count));
}

TEST(Validation, TheIntervalIsTheNarrowestThatHoldsTheMedianOftenEnough) {
  for (std::size_t count = 1; count <= 16; ++count) {
    SCOPED_TRACE(count);
    const auto interval = median_interval(one_to(count));
    ASSERT_EQ(interval.has_value(), count >= fewest_for_confidence);
    if (!interval)
      continue;
    const auto low = static_cast<std::size_t>(interval->low);
    const auto high = static_cast<std::size_t>(interval->high);
    EXPECT_EQ(low + high, count + 1);
    EXPECT_GE(coverage(count, low, high), confidence_level);
    if (low + 1 < high - 1) {
      EXPECT_LT(coverage(count, low + 1, high - 1), confidence_level);
    }
  }
}

TEST(Validation, TheMedianOfAnEvenNumberLiesBetweenTheMiddleTwo) {
  EXPECT_EQ(median({4, 1, 9}), 4);
  EXPECT_EQ(median({4, 1, 9, 6}), 5);
}

TEST(Validation, AMedianIsKnownAsFarAsItsIntervalReachesOnEitherSide) {
  EXPECT_TRUE(is_known_to(0.1, 20, {18, 22}));
  EXPECT_FALSE(is_known_to(0.1, 20, {17, 22}));
  EXPECT_FALSE(is_known_to(0.1, 20, {18, 23}));
}

RealRun run(std::int64_t elapsed, std::int64_t cpu_time, std::int64_t others) {
  return {Nanoseconds{elapsed}, Nanoseconds{cpu_time}, Nanoseconds{others}};
}

// The machine gets twice as slow in the second round, which no ratio of medians would survive.
TEST(Validation, ASpeedUpIsTheRatioOfTwoRunsOfOneRound) {
  const std::vector<RealRun> on_one{run(100, 100, 0), run(200, 200, 0), run(100, 100, 0)};
  const std::vector<RealRun> on_two{run(50, 100, 10), run(100, 220, 30), run(40, 60, 0)};
  const Real real = real_speedup(on_one, on_two, 2);
  EXPECT_EQ(real.speedup, 2);
  EXPECT_EQ(real.range.low, 2);
  EXPECT_EQ(real.range.high, 2.5);
  EXPECT_EQ(real.elapsed_ns, 50);
  EXPECT_EQ(real.cpu_time_ns, 100);
  EXPECT_NEAR(real.others_share, 40.0 / 380, 1e-12);
  EXPECT_FALSE(real.confidence);
}

// One CPU does in 100 what takes another 300, and so both together in 75: twice as fast as their average, 150.
TEST(Validation, CpusThatAreNotAlikeAreWorthTheirNumberOfAverageOnes) {
  const std::vector<RealRun> alone{run(100, 80, 4), run(300, 240, 8)};
  const RealRun average = on_average_cpu(alone);
  EXPECT_EQ(average.elapsed, Nanoseconds{150});
  EXPECT_EQ(average.cpu_time, Nanoseconds{120});
  EXPECT_EQ(average.others, Nanoseconds{6});
  EXPECT_EQ(real_speedup(std::vector{average}, std::vector{run(75, 120, 0)}, 2).speedup, 2);
  EXPECT_EQ(on_average_cpu(std::vector{run(100, 0, 0)}).cpu_time, Nanoseconds{0});
  EXPECT_EQ(on_average_cpu(std::vector{run(100, 7, 3)}).elapsed, Nanoseconds{100});
}

TEST(Validation, HowUnevenCpusAreIsTheMedianOverTheRounds) {
  const std::vector<std::vector<RealRun>> rounds{{run(100, 0, 0), run(150, 0, 0)},
                                                 {run(300, 0, 0), run(100, 0, 0)},
                                                 {run(50, 0, 0), run(50, 0, 0)}};
  EXPECT_EQ(unevenness(rounds), 1.5);
  const std::vector<std::vector<RealRun>> on_one_cpu{{run(100, 0, 0)}};
  EXPECT_EQ(unevenness(on_one_cpu), 1);
  EXPECT_EQ(unevenness({}), 1);
}

// Of 100 ns on one CPU 20 were stolen. On two, of which each was in use for 90 of them, it held the program up by half of what was
// stolen of both; and where it mostly sleeps, by all of it.
TEST(Validation, StolenTimeIsTakenOutOfARun) {
  const auto without = [](std::int64_t elapsed, std::int64_t cpu_time, std::int64_t stolen) {
    RealRun out = run(elapsed, cpu_time, 0);
    out.stolen = Nanoseconds{stolen};
    return without_stolen_time(out).elapsed.count();
  };
  EXPECT_EQ(without(100, 80, 20), 80);
  EXPECT_EQ(without(100, 140, 40), 78);
  EXPECT_EQ(without(100, 5, 20), 80);
  EXPECT_EQ(without(100, 80, 0), 100);
  EXPECT_EQ(without(10, 0, 20), 1) << "the counter goes in steps";
}

TEST(Validation, SaysWhatShareOfTheCpusWasStolen) {
  RealRun half = run(100, 100, 0);
  half.stolen = Nanoseconds{100};
  const std::vector<RealRun> runs{half, run(100, 100, 0)};
  EXPECT_DOUBLE_EQ(real_speedup(runs, runs, 1).stolen_share, 1.0 / 3);
  EXPECT_EQ(on_average_cpu(runs).stolen, Nanoseconds{50});
}

// What each of them reads every time, on however many CPUs, is its own.
TEST(Validation, RunsReadFromADiskWhereTheyReadMoreThanOthersDo) {
  const auto reads = [](std::uint64_t bytes) {
    RealRun out = run(100, 100, 0);
    out.read_from_disk = bytes;
    return out;
  };
  const std::vector<RealRun> all{reads(5'000'000), reads(5'900'000), reads(6'000'000),
                                 reads(40'000'000)};
  EXPECT_EQ(runs_that_read(all).runs, 2U);
  EXPECT_EQ(runs_that_read(all).most_bytes, 40'000'000U);
  EXPECT_EQ(runs_that_read(std::span(all).first(2)).runs, 0U);
  EXPECT_EQ(runs_that_read({}).runs, 0U);
  EXPECT_EQ(on_average_cpu(all).read_from_disk, 40'000'000U);
}

TEST(Validation, TheErrorIsThePapersAndLiesWhereTheRealSpeedUpDoes) {
  Real real;
  real.speedup = 2;
  EXPECT_NEAR(error_of(real, 1.9).error, 0.05, 1e-12);
  EXPECT_NEAR(error_of(real, 2.1).error, 0.05, 1e-12);
  EXPECT_FALSE(error_of(real, 2.1).confidence);

  real.confidence = Interval{1.6, 2.5};
  const PredictionError inside = error_of(real, 2.1);
  EXPECT_EQ(inside.confidence->low, 0);
  EXPECT_DOUBLE_EQ(inside.confidence->high, 0.5 / 1.6);
  const PredictionError outside = error_of(real, 1.5);
  EXPECT_NEAR(outside.confidence->low, 0.1 / 1.6, 1e-12);
  EXPECT_DOUBLE_EQ(outside.confidence->high, 0.4);
}

TEST(Validation, CpuTimesAreComparedWithinOneRound) {
  const auto run = [](int cpu_ms) { return RealRun{{}, Nanoseconds{cpu_ms * 1'000'000}, {}}; };
  const std::vector<RealRun> on_one{run(100), run(200), run(300), run(0)};
  const std::vector<RealRun> on_two{run(80), run(100), run(270), run(5)};
  const CpuTimeRatio ratio = cpu_time_ratio(on_one, on_two);
  EXPECT_DOUBLE_EQ(ratio.median, 0.8);
  EXPECT_DOUBLE_EQ(ratio.interval.low, 0.5);
  EXPECT_DOUBLE_EQ(ratio.interval.high, 0.9);
  const CpuTimeRatio of_none = cpu_time_ratio(std::vector{run(0)}, std::vector{run(3)});
  EXPECT_EQ(of_none.median, 1);
  EXPECT_EQ(of_none.interval.low, 1);
  EXPECT_EQ(of_none.interval.high, 1);
}

TEST(Validation, ManyRoundsLeaveLessOpenOfTheCpuTime) {
  std::vector<RealRun> on_one;
  std::vector<RealRun> on_two;
  for (int i = 0; i < 9; ++i) {
    on_one.push_back({{}, Nanoseconds{100}, {}});
    on_two.push_back({{}, Nanoseconds{96 + i}, {}});
  }
  const CpuTimeRatio ratio = cpu_time_ratio(on_one, on_two);
  EXPECT_DOUBLE_EQ(ratio.median, 1);
  // Of nine values the second and the last but one: both outside at once in 2 · 10 of 512 cases.
  EXPECT_DOUBLE_EQ(ratio.interval.low, 0.97);
  EXPECT_DOUBLE_EQ(ratio.interval.high, 1.03);
}

// Twice as fast each time, but in the second round the CPU of one run was slow, in the third that of the other.
TEST(Validation, ASlowCpuIsNoOtherSchedule) {
  const auto run = [](int elapsed, int cpu_time) {
    return RealRun{Nanoseconds{elapsed}, Nanoseconds{cpu_time}, {}};
  };
  const std::vector<RealRun> on_one{run(100, 100), run(120, 120), run(100, 100)};
  const std::vector<RealRun> on_two{run(50, 100), run(50, 100), run(60, 120)};
  const Interval same = spread_of_schedules(on_one, on_two, 1);
  EXPECT_DOUBLE_EQ(same.low, 1);
  EXPECT_DOUBLE_EQ(same.high, 1);
  // Speed-ups of 2, 2.4 and 1.67.
  const Interval asleep = spread_of_schedules(on_one, on_two, 0);
  EXPECT_NEAR(asleep.low, 1 / 1.2, 1e-12);
  EXPECT_NEAR(asleep.high, 1.2, 1e-12);
  // A thread that waited for its work for a tenth of the time.
  const Interval waited =
      spread_of_schedules(std::vector{run(100, 100), run(100, 100), run(100, 100)},
                          std::vector{run(50, 100), run(55, 100), run(50, 100)}, 1);
  EXPECT_NEAR(waited.low, 1 / 1.1, 1e-12);
  EXPECT_DOUBLE_EQ(waited.high, 1);
}

// 3 ms alone, then 4 threads for 2 ms, then nobody for 5: 3 of 11 ms of work.
TEST(Validation, AmdahlTakesWhatNoOtherThreadCouldRunBeside) {
  const std::vector<simulation::ConcurrencyStep> steps{{Nanoseconds{0}, 1},
                                                       {Nanoseconds{3'000'000}, 4},
                                                       {Nanoseconds{5'000'000}, 0},
                                                       {Nanoseconds{10'000'000}, 0}};
  const RulesOfThumb rules(steps, 5);
  EXPECT_DOUBLE_EQ(rules.serial_fraction(), 3.0 / 11);
  EXPECT_DOUBLE_EQ(rules.amdahl(1), 1);
  EXPECT_DOUBLE_EQ(rules.amdahl(2), 1 / (3.0 / 11 + 4.0 / 11));
  EXPECT_EQ(rules.limit(2), 2);
  EXPECT_EQ(rules.limit(16), 5);
}

// 4 threads for 3 ms and one for 4: three quarters of the work has three others beside it.
TEST(Validation, CountsThreadsByTheWorkThatIsDoneBesideThem) {
  const std::vector<simulation::ConcurrencyStep> steps{
      {Nanoseconds{0}, 4}, {Nanoseconds{3}, 1}, {Nanoseconds{7}, 0}};
  EXPECT_EQ(RulesOfThumb(steps, 5).threads_at_once(), 3) << "(12 * 4 + 4) / 16";
  EXPECT_EQ(RulesOfThumb({}, 5).threads_at_once(), 1);
}

TEST(Validation, RatiosAreOfRoundsThatTookCpuTime) {
  EXPECT_EQ(cpu_time_ratios(std::vector{run(10, 10, 0), run(10, 0, 0), run(10, 20, 0)},
                            std::vector{run(5, 12, 0), run(5, 10, 0), run(5, 10, 0)}),
            (std::vector{1.2, 0.5}));
}

}  // namespace
}  // namespace longpole::analysis
