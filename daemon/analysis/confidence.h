// Confidence: between which speed-ups the real one is to be expected, from what was measured.
//
// A prediction is a ratio of two simulated times. What can be wrong with it, and how far that is let count:
//
//   what waits, switches, migrations, interrupts    simulated again without any, and with twice of each, on
//   and wake-ups take                               one CPU, too
//   how often CPUs that fall idle look for a        simulated again as if that had never helped before the
//   thread, which depends on what the machine did   run, and as if it always had (linux alone)
//   what recording cost                             a third of what was taken out may be left in, or was
//                                                   the program's, of the time on many CPUs alone: of
//                                                   programs that do little but call, CPU times were seen
//                                                   to be off by up to a fifth of it
//   waits for nobody known (external_wait)          simulated again with none
//   CPU time that changes with the number of CPUs   where real runs on 1 and on P CPUs say so (thesis,
//                                                   Paper III section 4.3): the prediction compensated
//                                                   for it, as far as the rounds leave open how large
//                                                   it is, and anything between; a simulation alone
//                                                   knows nothing of it
//   CPU time that is saved on several CPUs, or      none of it, to half of it more
//   taken there in addition (cpu_time_on.h)
//   CPU time that goes into loading caches anew     where real runs on one CPU with longer time slices say
//                                                   how much, and there are none on P CPUs: the speed-up as
//                                                   if it were saved, and anything between
//   that the recording is of a single run           where real runs say how far one differs from another:
//                                                   as much as the speed-ups of single rounds lie below
//                                                   and above their median when their CPU times are
//                                                   taken out, that is the speed of the machine
// Each shifts an end of the interval by as much as it can alone. They have nothing to do with each other, and seldom
// all err to the same side at once by all they can: the shifts of an end add up as independent uncertainties do, the
// root of the sum of their squares (JCGM 100:2008, Guide to the expression of uncertainty in measurement, 5.1.2).
// How often the real value then lies within: tests/validation/RESULTS.md.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "analysis/forecast.h"
#include "analysis/validation.h"

namespace longpole::analysis {

// The share of the program's CPU time that recording took, by its own measure.
[[nodiscard]] double recording_share(const Recording& recording);

// What speaks against numbers from this recording and is not among its notices: with few samples, or none
// of short threads, where the CPU time went is a rough guess.
[[nodiscard]] std::vector<Notice> doubts_of(const Recording& recording);

// Holds the Recording as the Forecaster does. Safe for any number of threads.
class Confidence {
 public:
  // None: nothing was measured (a program or a recording in text, or a time of 0).
  [[nodiscard]] static std::optional<Confidence> of(std::shared_ptr<const Recording> recording);

  // The interval of the speed-up against one CPU. `on_one_ns` and `total_ns`: as they are predicted.
  // Errors: those of Forecaster::on.
  [[nodiscard]] Expected<Interval> of_speedup(const Computer& computer, const ModelChoice& models,
                                              double on_one_ns, double total_ns) const;

 private:
  explicit Confidence(std::shared_ptr<const Recording> recording);

  std::shared_ptr<const Recording> recording_;
  std::unique_ptr<Forecaster> forecaster_;
  std::unique_ptr<Forecaster> without_unknown_waits_;  // null: there are next to none
};

// `interval` of a speed-up that is `predicted`, and one thing more that can be wrong: with that alone it would lie
// between the ends of `otherwise`. All above 0.
[[nodiscard]] Interval with_doubt(Interval interval, double predicted, Interval otherwise);

// `share`: of the CPU time on one CPU, that goes into loading caches anew after switches. On enough CPUs
// nobody switches, and it is saved. For predictions that know nothing of cpu_time_on.h.
[[nodiscard]] Interval with_caches_kept(Interval interval, double predicted, double share);

}  // namespace longpole::analysis
