// Validation: a prediction beside real runs of the same program, as the papers' tables have it
// (thesis, Paper I, Table 1: real speed-up as the middle of several runs with the least and the
// largest, predicted speed-up, error), and beside what one would have said without a simulation.
//
// A round is one run on each number of CPUs, one soon after the other: the speed of a machine
// changes from minute to minute, so a speed-up is the ratio of two runs of the same round, and the
// median is over rounds. The CPUs of a machine differ in speed as well, and not for long in the same way: one
// whose core or caches others use, too, was seen to take 1.45 times as long as its neighbour. So the
// run on one CPU that a round's others are held against is made on two of them (on_average_cpu). Likewise on
// several: a program that computes on one of them for long is as fast as the one where it began, which depends
// on where it is started from, so that a round has a run from each of two.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulation/simulate.h"

namespace longpole::analysis {

struct RealRun {
  Nanoseconds elapsed{};
  Nanoseconds cpu_time{};
  Nanoseconds others{};              // CPU time that others took of the CPUs of the run
  Nanoseconds stolen{};              // likewise the host of a virtual machine, for others
  std::uint64_t read_from_disk = 0;  // bytes
};

// What the run takes on CPUs from which nothing is stolen. Time is stolen only of CPUs on which something is to run, and where
// several run at a time, each second of it holds the program up by that part: on one CPU, by all of it.
[[nodiscard]] RealRun without_stolen_time(const RealRun& run);

// Of runs of one round, each on another CPU alone: what they are on a CPU that is as fast as these are on
// average (the harmonic mean), so that all of them together are as many times as fast. Of runs on several, each
// started from another one: likewise. Of at least one.
[[nodiscard]] RealRun on_average_cpu(std::span<const RealRun> runs);

// How many times as long as on the fastest of its CPUs such runs take on the slowest: the median over the
// rounds; 1 where they are on one. Each round: as for on_average_cpu().
[[nodiscard]] double unevenness(std::span<const std::vector<RealRun>> rounds);

// Runs that waited for a disk where others of the same program found the same in memory: those that read a megabyte more from it
// than the one that read least. What pushes files out of memory may be the host of a virtual machine. Such a run's speed-up says
// less of the program.
struct RunsThatRead {
  std::size_t runs = 0;
  std::uint64_t most_bytes = 0;  // of one of them; 0: there are none
};
[[nodiscard]] RunsThatRead runs_that_read(std::span<const RealRun> all);

// Both ends belong to it.
struct Interval {
  double low = 0;
  double high = 0;
};

inline constexpr double confidence_level = 0.95;
// With fewer there is no interval that holds the median so often.
inline constexpr std::size_t fewest_for_confidence = 6;

// Of at least one value; the mean of the middle two where their number is even.
[[nodiscard]] double median(std::vector<double> values);

// Holds the median of whatever the values were drawn from in at least 95 of 100 cases, without
// assuming any form of it: the binomial interval between two of the values in order (Conover,
// Practical Nonparametric Statistics, section 3.2). None: too few values.
[[nodiscard]] std::optional<Interval> median_interval(std::vector<double> values);

// That a median lies within a fraction `within` of what it came out as, to either side, as its interval has it.
[[nodiscard]] bool is_known_to(double within, double median, const Interval& interval);

// CPU time of the run on many CPUs over that on one, of each round in which both took some. `on_one` and `on_many` as for
// real_speedup().
[[nodiscard]] std::vector<double> cpu_time_ratios(std::span<const RealRun> on_one,
                                                  std::span<const RealRun> on_many);

// What these are in the middle; 1 where no round took any.
struct CpuTimeRatio {
  double median = 1;
  Interval interval{1, 1};  // median_interval(); of too few rounds, the least and the largest
};
[[nodiscard]] CpuTimeRatio cpu_time_ratio(std::span<const RealRun> on_one,
                                          std::span<const RealRun> on_many);

// How the speed-ups of single rounds would differ if all had taken the same CPU time: how the threads happened to
// run, not how fast the CPUs did. The least and the largest, as factors of their median. `computing`: how far the
// elapsed time follows the CPU time, from 0, not at all, to 1. `on_one` and `on_many` as for real_speedup().
[[nodiscard]] Interval spread_of_schedules(std::span<const RealRun> on_one,
                                           std::span<const RealRun> on_many, double computing);

struct Real {
  double elapsed_ns = 0;  // medians over the rounds
  double cpu_time_ns = 0;
  double others_share = 0;  // of the CPUs' time, over all runs with this number of CPUs
  double stolen_share = 0;  // likewise
  double speedup = 1;
  Interval range;                      // of all rounds
  std::optional<Interval> confidence;  // of the median
};

// `on_one` and `on_many`: the runs of the same rounds on one CPU and on `cpus`, in the same order; at
// least one.
[[nodiscard]] Real real_speedup(std::span<const RealRun> on_one, std::span<const RealRun> on_many,
                                std::uint32_t cpus);

// |real − predicted| / real, as the papers have it, and between which errors it lies when the real
// speed-up lies in its interval.
struct PredictionError {
  double error = 0;
  std::optional<Interval> confidence;
};
[[nodiscard]] PredictionError error_of(const Real& real, double predicted_speedup);

// What one would say without simulating. `ideal` as simulation::concurrency() gives it.
class RulesOfThumb {
 public:
  RulesOfThumb(std::span<const simulation::ConcurrencyStep> ideal, std::size_t threads);
  [[nodiscard]] static RulesOfThumb of(const Recording& recording);

  // The share of its work that the program does while no other thread could run.
  [[nodiscard]] double serial_fraction() const { return serial_fraction_; }
  // How many threads compute at once: the mean over its work, to a whole number.
  [[nodiscard]] std::uint32_t threads_at_once() const { return threads_at_once_; }
  // Amdahl's law: 1 / (s + (1 − s) / P).
  [[nodiscard]] double amdahl(std::uint32_t cpus) const;
  // min(P, threads).
  [[nodiscard]] double limit(std::uint32_t cpus) const;

 private:
  double serial_fraction_ = 0;
  std::uint32_t threads_at_once_ = 1;
  std::size_t threads_;
};

}  // namespace longpole::analysis
